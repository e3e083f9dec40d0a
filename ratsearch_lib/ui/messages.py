"""Panels → the message dictionaries of `gr.Chatbot`, with all text of models, archives and people made inert.

The page sanitises HTML and forbids foreign addresses as well; what is escaped here is also shown as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..view import Panel
from .articles import article_link
from .evidence import marked
from .inert import inert

MAX_RESULT_CHARS = 8_000  # of a tool's result on the page; the model saw all of it

TEX = [  # no dollar signs: "$3000 and $3000" is money
    {"left": r"\[", "right": r"\]", "display": True},
    {"left": r"\(", "right": r"\)", "display": False},
]
MARK = "\N{WORD JOINER}"

# Backslash and "[" become entities: between "\[" and "\]", or "\(" and "\)", the page would draw TeX.
_SPECIAL = re.compile(r"[\\`*_\[<&|~]|^[ \t]*(?:[-+=#>]|\d+[.)])", re.MULTILINE)
_ENTITIES = {"\\": "&#92;", "[": "&#91;"}
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|&#(9[12]);")  # a backslash before any ASCII punctuation


def user_message(question: str) -> dict:
    """A question, shown as it was typed."""
    return _message(as_typed(question), role="user")


def error_message(text: str) -> dict:
    return _message("> **Error.** " + as_typed(" ".join(text.split())))


def turn_messages(panels: Sequence[Panel], turn: int, finished: dict | None = None) -> list[dict]:
    """The messages that show the panels of turn number `turn`.

    `finished`, the same at every call for a turn, keeps the messages of panels that no longer change.
    """
    finished = {} if finished is None else finished
    messages = []
    for panel in panels:
        key = panel.key, panel.kind
        message = finished.get(key) or _panel_message(panel, f"{turn}-")
        if panel.state != "pending":
            finished[key] = message
        messages.append(message)
    if all(panel.state != "pending" for panel in panels) and (links := source_links(panels)):
        messages.append(_message("Read: " + " · ".join(links)))
    return messages


def source_links(panels: Iterable[Panel]) -> list[str]:
    """Markdown links to what was read, each article once."""
    read: dict[str, Panel] = {}
    for panel in panels:
        if panel.source:
            read.setdefault(panel.source, panel)
    return [f"[{as_typed(panel.name)}]({article_link(source, panel.passages)})" for source, panel in read.items()]


def _panel_message(panel: Panel, prefix: str) -> dict:
    match panel.kind:
        case "status":
            return _message(code_span(panel.title.replace(" ", "\N{NO-BREAK SPACE}")))
        case "answer":
            return _message(marked(panel))
        case "notice":
            return _message("> " + as_typed(" ".join(panel.body.split())))
        case "error":
            return error_message(panel.body)
        case "reasoning":
            title, body = panel.title.strip(), inert(panel.body)
        case "tool":
            title, body = code_span(panel.title), fence(panel.body)
        case "result":
            title, body = code_span(panel.title), fence(_shortened(panel.body))
    if panel.kind == "tool" and panel.state == "error":
        title += " failed"
    metadata = {"title": title, "id": prefix + panel.key}
    if panel.kind != "result":  # without a status it stands open in the folded panel of its call
        metadata["status"] = "pending" if panel.state == "pending" else "done"
    if panel.log:
        metadata["log"] = panel.log
    if panel.duration_s is not None and panel.kind != "result":
        metadata["duration"] = max(panel.duration_s, 0.001)  # none is shown for 0
    if panel.parent:
        metadata["parent_id"] = prefix + panel.parent
    return _message(body, metadata=metadata)


def _message(text: str, role: str = "assistant", **more) -> dict:
    # A plain string would lose its indentation on the way; lone surrogates cannot be sent.
    text = text.encode("utf-8", "replace").decode("utf-8")
    return {"role": role, "content": [{"type": "text", "text": text}], **more}


def _shortened(text: str) -> str:
    left_out = len(text) - MAX_RESULT_CHARS
    return text if left_out <= 0 else f"{text[:MAX_RESULT_CHARS]}\n… {left_out:,} more characters, which the model read"


def as_typed(text: str) -> str:
    r"""Markdown that shows `text` itself. `typed` undoes it.

    >>> as_typed("Is 2*3*4 < 25?")
    'Is 2\\*3\\*4 \\< 25?'
    """
    return _SPECIAL.sub(lambda found: found[0][:-1] + _ENTITIES.get(found[0][-1], "\\" + found[0][-1]), text)


def typed(markdown: str) -> str:
    """What was typed, of Markdown by `as_typed`."""
    return _ESCAPED.sub(lambda found: found[1] or chr(int(found[2])), markdown)


def edited(text: str) -> str:
    """What a person wants to ask instead: page.js marks a box that shows the question as it was typed."""
    return text[1:] if text.startswith(MARK) else typed(text)


def code_span(text: str) -> str:
    """`text` on one line, in a code span that nothing in it can close.

    >>> code_span("a `b` c")
    '`` a `b` c ``'
    """
    text = " ".join(text.split(" ")).replace("\n", " ")
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if len(ticks) > 1 else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(text: str) -> str:
    """`text` in a code block that nothing in it can close."""
    ticks = "`" * max(3, _longest_run(text) + 1)
    return f"{ticks}text\n{text}\n{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
