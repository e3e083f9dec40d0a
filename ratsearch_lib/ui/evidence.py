"""A mark after each sentence of an answer, which opens the article that bears it out at the passage."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from ..evidence import SentenceEvidence, citations, mark
from ..view import Panel
from .articles import PREFIX, article_link
from .inert import inert

_HOLD = "\N{INVISIBLE SEPARATOR}"  # holds a mark's place while the answer is made inert
_HELD = re.compile(f"{_HOLD}(\\d+){_HOLD}")
_ODD = (r"\[", r"\(", "$$", "]:", "```", "~~~")  # where a mark might fall into TeX, code or a link's definition


def marked(panel: Panel) -> str:
    """The Markdown that shows an answer, its marks in it; without marks where they could stand in anything but text."""
    if not panel.evidence or any(each in panel.body for each in _ODD):
        return inert(panel.body)
    body = panel.body.replace(_HOLD, " ")
    numbers = citations(panel.evidence)
    parts, at = [], 0
    for n, each in enumerate(panel.evidence):
        if each.verdict and at < each.end <= len(body) and _is_text(body, each):
            parts += [body[at : each.end], f"{_HOLD}{n}{_HOLD}"]
            at = each.end
    text = inert("".join([*parts, body[at:]]))
    return _HELD.sub(lambda found: "\N{NO-BREAK SPACE}" + _mark(panel.evidence[int(found[1])], numbers), text)


def _is_text(body: str, each: SentenceEvidence) -> bool:
    """Whether the sentence's end is neither in code nor in a link, as far as its line shows."""
    line = body[body.rfind("\n", 0, each.end) + 1 : each.end]
    link = line.rfind("](")
    return line.count("`") % 2 == 0 and line.count("[") == line.count("]") and (link < 0 or ")" in line[link:])


def _mark(each: SentenceEvidence, numbers: dict[tuple[str, str], int]) -> str:
    shown = mark(each, numbers).replace("[", "&#91;").replace("]", "&#93;")
    if each.source:
        return f"[{shown}]({article_link(each.source, [each.passage])})"
    if each.article:
        return f"[{shown}]({PREFIX[1:]}?{urlencode({'title': each.article}, errors='replace')})"
    return shown
