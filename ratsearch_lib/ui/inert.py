"""Markdown of models made inert: its HTML is shown, not obeyed, and it draws no pictures.

Outside code every `<` becomes an entity. Inside code an entity would be shown as such, so there it stays; but what is
code for us and text for the page would be obeyed. So code is only what every reader of Markdown takes for code, seen
line by line: fences whose end is plain, and spans that end on their line. In all else the entity is seen, no harm done.

Rules: https://spec.commonmark.org/0.31.2/#fenced-code-blocks, #code-spans; tables and bare addresses:
https://github.github.com/gfm/; what the page takes for TeX: `TEX` in app.py.
"""

from __future__ import annotations

import re

_DIAGRAM = re.compile(r"([`~]{3}[ \t]*)mermaid", re.IGNORECASE)  # it draws HTML, pictures and styles
_FENCE = re.compile(r"( *)(`{3,}|~{3,})[^`~\t]*")
_LIKE_A_FENCE = re.compile(r"[ \t>*+\-0-9.)]*(?:`{3}|~{3})")
_TICKS = re.compile("`+")
_PLAIN_LINK = re.compile(r"\]\([\w:/.?=&%#+,;-]*\)")


def inert(markdown: str) -> str:
    r"""Markdown that neither HTML nor pictures get through. Takes time linear in its length.

    >>> inert("<b> and `<b>`, ![](http://x/y.png)")
    '&lt;b> and `<b>`, !&#91;](http://x/y.png)'
    """
    markdown = _DIAGRAM.sub(r"\1text", markdown).replace("\r\n", "\n").replace("\r", "\n")
    if "<" not in markdown and "![" not in markdown and '"' not in markdown:
        return markdown
    markdown, hides_code = _inert_tex(markdown)
    if hides_code:
        return _escape(markdown)
    lines = markdown.split("\n")
    shown: list[str] = []
    start = number = 0  # lines from `start` on are not written yet
    while number < len(lines):
        line = lines[number]
        if _LIKE_A_FENCE.match(line):
            end = _fence_end(lines, number)
        elif "]:" in line:  # a link's definition may swallow the lines after it
            end = None
        else:
            number += 1
            if not line.strip(" \t"):
                shown += _paragraphs(lines[start:number])
                start = number
            continue
        shown += _paragraphs(lines[start:number])
        start = number
        if end is None:  # from here on, nothing is certain
            break
        shown += [_escape(line), *lines[number + 1 : end]]
        start = number = end
    else:
        return "\n".join([*shown, *_paragraphs(lines[start:])])
    return "\n".join([*shown, *map(_escape, lines[start:])])


def _escape(markdown: str) -> str:
    return markdown.replace("<", "&lt;").replace("![", "!&#91;")


def _inert_tex(markdown: str) -> tuple[str, bool]:
    r"""TeX made inert, and whether it hides what could begin or end code.

    The page takes it out before it reads Markdown, from code too, and puts it back as HTML. First what stands between
    ``\[`` and ``\]``, then what stands between ``\(`` and ``\)`` in the rest.
    """
    formulas: list[tuple[int, int]] = []
    rest = markdown
    for left, right in ((r"\[", r"\]"), (r"\(", r"\)")):
        pieces, done, start = [], 0, rest.find(left)
        while start >= 0 and (end := rest.find(right, start + 3)) >= 0:
            end += len(right)
            formulas.append((start, end))
            pieces += rest[done:start], "x" * (end - start)
            done, start = end, rest.find(left, end)
        rest = "".join([*pieces, rest[done:]])
    pieces, done, hides_code = [], 0, False
    for start, end in sorted(formulas):
        if end <= done:  # inside the one before
            continue
        formula = markdown[start:end]
        hides_code = hides_code or "`" in formula or "~~~" in formula
        pieces += markdown[done:start], _escape(formula).replace('"', "&quot;")
        done = end
    return "".join([*pieces, markdown[done:]]), hides_code


def _fence_end(lines: list[str], start: int) -> int | None:
    """The number of the line after the fenced code that begins at line `start`; None where that is not certain."""
    opening = _FENCE.fullmatch(lines[start])
    if not opening:
        return None
    indent, marker = opening.groups()
    if len(indent) > 3 and start and lines[start - 1].strip(" \t"):
        return None  # it may go on a paragraph
    for number in range(start + 1, len(lines)):
        line = lines[number]
        bare = line.strip(" \t")
        if bare and not line.startswith(indent):
            return None  # it may end the list that the code stands in
        if bare.startswith(marker):
            closes = line.startswith(indent + marker) and not line[len(indent) :].rstrip(" ").strip(marker[0])
            return number + 1 if closes else None
    return len(lines)


def _paragraphs(lines: list[str]) -> list[str]:
    """Lines without a blank one between them, of one or several paragraphs, made inert."""
    code = [_code_spans(line) for line in lines] if any("`" in line for line in lines) else [None]
    if None in code or "](" in _PLAIN_LINK.sub("", "\n".join(lines)):
        return [_escape(line) for line in lines]
    if any("-" in line and not line.strip(" \t>|:-") for line in lines):  # in a table, a bar ends a cell and its code
        for line, spans in zip(lines, code, strict=True):
            if any("|" in line[start:end] for start, end in spans):
                return [_escape(line) for line in lines]
    shown = []
    for line, spans in zip(lines, code, strict=True):
        pieces, done = [], 0
        for start, end in spans:
            pieces += _escape(line[done:start]), line[start:end]
            done = end
        shown.append("".join([*pieces, _escape(line[done:])]))
    return shown


def _code_spans(line: str) -> list[tuple[int, int]] | None:
    """Where code spans stand in a line; None where backticks are left over, escaped, or part of an address."""
    runs = [found.span() for found in _TICKS.finditer(line)]
    spans: list[tuple[int, int]] = []
    first = done = 0
    while first < len(runs):
        start, end = runs[first]
        last = next((i for i in range(first + 1, len(runs)) if runs[i][1] - runs[i][0] == end - start), None)
        before = line[done:start]
        if last is None or before.endswith("\\"):
            return None
        if before and not before[-1].isspace():
            word = before.split()[-1].lower()
            if "://" in word or "www." in word or "@" in word:
                return None
        done = runs[last][1]
        spans.append((start, done))
        first = last + 1
    return spans
