"""The piece of a chunk that shows best why it was found."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..text import folded_words
from .terms import term

SNIPPET_CHARS = 300
_WORD = re.compile(r"\w[\w\u0300-\u036f\u0900-\u0dff]*")
_SPACE = re.compile(r"\s+")


def snippet(text: str, wanted: frozenset[str], language: str = "", max_chars: int = SNIPPET_CHARS) -> str:
    """About `max_chars` characters of `text` where the most of the `wanted` terms stand together, cut at words.

    >>> snippet("Day breaks. " * 40 + "The owl eats it. " + "Night falls. " * 40, frozenset({"owl"}), "", 40)
    '…Day breaks. The owl eats it. Night…'
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
    """Where the wanted terms stand: start, end, term."""
    found = []
    if text.isascii():
        lower = text.lower()
        # English stems begin as their words do, which spares stemming most.
        initials = None if language else {name[0] for name in wanted}
        for word in set(folded_words(lower)):
            if (initials is None or word[0] in initials) and (name := term(word, language)) in wanted:
                found += [(*span, name) for span in _places(lower, word)]
        return sorted(found)
    for match in _WORD.finditer(text):
        at = match.start()
        for part in folded_words(match[0]):
            name = term(part, language)
            if name in wanted:
                where = text.find(part, at, match.end())
                start = where if where >= 0 else match.start()
                found.append((start, min(match.end(), start + len(part)), name))
    return found


def _places(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Where `word` stands in `text` by itself."""
    size = len(word)
    at = text.find(word)
    while at >= 0:
        end = at + size
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            yield at, end
        at = text.find(word, end)


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
