"""The index terms of many titles at once: the rules of `normalise` by numpy, for titles where they are simple.

Nearly all titles of English Wikipedia are digits, punctuation, and letters that fold to one of ASCII. Their words are
cut and made singular in a few passes over an array of characters, several times faster than one by one. The others go
to `terms`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .normalise import APOSTROPHES, MAX_WORD_CHARS, fold, has_words, terms

if TYPE_CHECKING:
    import numpy as np

# Characters become letters in lower case, digits, line ends and spaces, or one of these marks for a closer look.
_NONE, _OTHER, _POINT, _COMMA, _CUT = range(5)
_MARKS = {**dict.fromkeys(APOSTROPHES, _NONE), **dict.fromkeys("&+#$<", _OTHER), ".": _POINT, ",": _COMMA, "\n": 10}
_MARKS_TO_SPACES = bytes(32 if code <= _COMMA else code for code in range(256))
_KNOWN = 0x2100  # characters: Latin letters with marks, and general punctuation
_S, _E, _I, _U, _X, _Z, _C, _H, _Y = b"seiuxzchy"


def batch_terms(titles: list[str]) -> list[str]:
    """For each title its index terms as `terms` gives them, with spaces between them.

    >>> [text.split() for text in batch_terms(["Rats of Tobruk", "J. R. R. Tolkien"])]
    [['rat', 'of', 'tobruk'], ['jrr', 'tolkien']]
    """
    import numpy as np

    text = "".join([f"{title}\n" for title in titles])
    if text.count("\n") != len(titles):  # a line end within a title
        return [" ".join(terms(title)) for title in titles]
    # a line end before the first: each word has something before and after it
    codes = np.frombuffer(f"\n{text}".encode("utf-32-le", "replace"), "<u4")
    chars = _kinds()[np.minimum(codes, _KNOWN)]
    chars = chars[chars != _NONE]
    in_word = chars > 32
    starts = np.flatnonzero(in_word[1:] & ~in_word[:-1]) + 1
    ends = np.flatnonzero(in_word[:-1] & ~in_word[1:])
    lengths = ends - starts + 1
    line_ends = np.flatnonzero(chars == 10)[1:]
    unusual = _unusual(chars, starts, lengths, line_ends)
    _cut_plurals(chars, ends, lengths)
    lines = chars.tobytes().translate(_MARKS_TO_SPACES, bytes([_CUT])).decode().split("\n")[1:-1]
    for place in unusual.tolist():
        lines[place] = " ".join(terms(titles[place]))
    return lines


@cache
def _kinds() -> np.ndarray:
    """What each character becomes, by its code; the last is for all that are not in the table."""
    import numpy as np

    return np.array([*(_kind(chr(code)) for code in range(_KNOWN)), _OTHER], np.uint8)


def _kind(char: str) -> int:
    if char in _MARKS:
        return _MARKS[char]
    folded = fold(char)
    if len(folded) == 1 and folded.isascii() and folded.isalnum():
        return ord(folded)
    if has_words(char) or has_words(folded) or not folded or not _MARKS.keys().isdisjoint(folded):
        return _OTHER
    return 32


def _unusual(chars: np.ndarray, starts: np.ndarray, lengths: np.ndarray, line_ends: np.ndarray) -> np.ndarray:
    """The lines with anything but ASCII words, and those where a rule looks at more than one word."""
    import numpy as np

    points = np.flatnonzero(chars == _POINT)
    acronyms = points[(chars[points - 2] == _POINT) & (chars[points - 1] > 32)]
    commas = np.flatnonzero(chars == _COMMA)
    thousands = commas[(chars[commas - 1] - 48 < 10) & (chars[commas + 1] - 48 < 10)]  # unsigned: digits only
    places = np.concatenate([np.flatnonzero(chars == _OTHER), acronyms, thousands, starts[lengths > MAX_WORD_CHARS]])
    unusual = np.zeros(len(line_ends), bool)
    unusual[np.searchsorted(line_ends, places)] = True

    line_of_word = np.searchsorted(line_ends, starts)
    unusual |= np.bincount(line_of_word[lengths == 1], minlength=len(line_ends)) > 1  # J. R. R. Tolkien
    count = np.bincount(line_of_word, minlength=len(line_ends))
    unusual |= count == 0
    several = np.flatnonzero(count > 1)  # The The: the first word like the last
    last = (np.cumsum(count) - 1)[several]
    first = last - count[several] + 1
    alike = chars[starts[first]] == chars[starts[last]]
    unusual[several[alike & (chars[starts[first] + 1] == chars[starts[last] + 1])]] = True
    return np.flatnonzero(unusual)


def _cut_plurals(chars: np.ndarray, ends: np.ndarray, lengths: np.ndarray) -> None:
    """As `normalise` makes words singular, with a mark in the place of letters that are to go."""
    ends, lengths = ends[lengths > 3], lengths[lengths > 3]
    last, second, third, fourth = (chars[ends - back] for back in range(4))
    ie = (last == _E) & (second == _I) & (lengths > 4)
    plural = (last == _S) & (second != _S) & (second != _U) & (second != _I)
    es = plural & (second == _E)
    ies = es & (third == _I) & (lengths > 4)
    hissing = (third == _X) | (third == _Z) | (third == _H) & ((fourth == _C) | (fourth == _S))
    es &= ~ies & (hissing | (third == _S) & (fourth == _S))
    chars[ends[ie] - 1] = _Y
    chars[ends[ies] - 2] = _Y
    chars[ends[ies | es] - 1] = _CUT
    chars[ends[ie | plural]] = _CUT
