"""The piece of a chunk that shows best why it was found."""

from __future__ import annotations

import re

from ..text import folded_words, stemmed

SNIPPET_CHARS = 300
_WORD = re.compile(r"\w[\w\u0300-\u036f\u0900-\u0dff]*")
_SPACE = re.compile(r"\s+")


def snippet(text: str, wanted: frozenset[str], language: str = "", max_chars: int = SNIPPET_CHARS) -> str:
    """About `max_chars` characters of `text` where the most of the `wanted` tokens stand together, cut at words.

    >>> snippet("Day breaks. " * 40 + "The owl eats it. " + "Night falls. " * 40, frozenset({"owl"}), "", 40)
    '…breaks. The owl eats it. Night falls.…'
    """
    hits = _hits(text, wanted, language)
    if not hits or len(text) <= max_chars:
        start = hits[0][0] if hits and len(text) > max_chars else 0
        return _piece(text, start, min(len(text), start + max_chars), max_chars)
    room = max_chars - 20
    best, best_value, first = (0, 0), (0, 0), 0
    for last in range(len(hits)):
        while hits[last][1] - hits[first][0] > room and first < last:
            first += 1
        window = hits[first : last + 1]
        value = len({token for _, _, token in window}), len(window)
        if value > best_value:
            best, best_value = (first, last), value
    start, end = hits[best[0]][0], hits[best[1]][1]
    before = max(0, (max_chars - (end - start)) // 2)
    start = max(0, min(start - before, len(text) - max_chars))
    return _piece(text, start, min(len(text), start + max_chars), max_chars)


def _hits(text: str, wanted: frozenset[str], language: str) -> list[tuple[int, int, str]]:
    """Where the wanted tokens stand: start, end, token."""
    found = []
    for match in _WORD.finditer(text):
        word = match[0]
        if word.isascii():
            token = stemmed(word.lower(), language)
            if token in wanted:
                found.append((*match.span(), token))
            elif "_" in word:
                found += [
                    (*match.span(), token)
                    for part in folded_words(word)
                    if (token := stemmed(part, language)) in wanted
                ]
            continue
        at = match.start()
        for part in folded_words(word):
            token = stemmed(part, language)
            if token in wanted:
                where = text.find(part, at, match.end())
                start = where if where >= 0 else match.start()
                found.append((start, min(match.end(), start + len(part)), token))
    return found


def _piece(text: str, start: int, end: int, max_chars: int) -> str:
    """`text` from start to end, drawn in to whole words; white space as one space, an ellipsis where it goes on."""
    slack = max_chars // 5
    if start > 0 and not text[start - 1].isspace():
        space = _SPACE.search(text, start, min(end, start + slack))
        start = space.end() if space else start
    if end < len(text) and not text[end].isspace():
        spaces = [match.start() for match in _SPACE.finditer(text, max(start, end - slack), end)]
        end = spaces[-1] if spaces else end
    piece = " ".join(text[start:end].split())
    return ("…" if text[:start].strip() else "") + piece + ("…" if text[end:].strip() else "")
