"""What was read, cut into passages that a sentence can be held against."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from ..text import folded_words, guess_language, sentences, words
from ..tools import ReadResult
from .forms import BEGINNING, form
from .numbers import Number, numbers

MAX_CHARS = 400_000  # of all that was read: what is beyond is not looked at
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d\d\d(?!\d))")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_CELL_RULE = re.compile(r"[\s|:-]+")
_TABLE = re.compile(r"\s*\|")
# Folded to ASCII before words are cut, which is several times as fast then
_TYPOGRAPHY = str.maketrans("–—−‐‑’‘“”\u00a0\u2009\u202f…×°·", "-----''\"\"   .x  ")


def spaced(text: str) -> str:
    """The words of a text, with a space before and after each: what stands in another text stands in its words.

    >>> spaced("The “Rat”,  1,500 g")
    ' the rat 1500 g '
    """
    return f" {' '.join(folded_words(text.translate(_TYPOGRAPHY)))} "


class Forms(dict):
    """The form of each folded word in one language."""

    def __init__(self, language: str):
        super().__init__()
        self._language = language

    def __missing__(self, word: str) -> str:
        found = self[word] = form(word, self._language)
        return found

    def of(self, text: str) -> list[str]:
        """The forms of a text's words, in order."""
        return [self[word] for word in folded_words(text.translate(_TYPOGRAPHY) if not text.isascii() else text)]


class Piece:
    """A sentence of a line, or all of a row."""

    def __init__(self, text: str, forms: Forms):
        self.text = text
        self.forms = forms.of(text)
        self.bag = frozenset(self.forms)

    @cached_property
    def numbers(self) -> list[Number]:
        return numbers(self.text)

    @cached_property
    def words(self) -> list[str]:
        return words(self.text)

    @cached_property
    def joined(self) -> str:
        """Its forms with a space before and after each."""
        return f" {' '.join(self.forms)} "

    def beginning_with(self, letters: str) -> Iterator[str]:
        """Its forms that begin so."""
        start = self.joined.find(f" {letters}")
        while start >= 0:
            end = self.joined.find(" ", start + 1)
            yield self.joined[start + 1 : end]
            start = self.joined.find(f" {letters}", end)


class Line:
    """A paragraph, list item or table row of what was read; `context` are the forms of its headings."""

    def __init__(self, text: str, section: str, head: str, source: ReadResult, forms: Forms):
        self.text, self.section, self.head, self.source = text, section, head, source
        self._forms = forms

    @cached_property
    def context(self) -> frozenset[str]:
        return frozenset(self._forms.of(f"{self.source.title or ''}\n{self.section}\n{self.head}"))

    @cached_property
    def words(self) -> str:
        """Its words as they are written, case and punctuation aside, with a space before and after each."""
        return spaced(self.text)

    @cached_property
    def pieces(self) -> list[Piece]:
        found = [self.text] if _TABLE.match(self.text) else sentences(self.text)
        return [Piece(each, self._forms) for each in found]


class Sources:
    """All lines of what was read, each text once, and in which a word may stand.

    Lines are searched as they are, and cut into words only where a sentence may be borne out: there are few of these.
    """

    def __init__(self, read: Iterable[ReadResult]):
        self.lines: list[Line] = []
        self.language = ""
        self._folded: list[str] = []
        self._lines_with: dict[str, list[int]] = {}
        seen, left = set(), MAX_CHARS
        by_language: dict[str, Forms] = {}
        for result in read:
            key = result.source, result.text
            if key in seen or left <= 0:
                continue
            seen.add(key)
            language = guess_language(result.text) or ""
            self.language = self.language or language
            forms = by_language.setdefault(language, Forms(language))
            text = result.text[:left]
            left -= len(text)
            first, *lines = text.split("\n")
            self._add(lines if says_what_it_is(first, result) else [first, *lines], result, forms)
            extra = [each.text for each in (*result.passages, *result.quotes) if each.text not in result.text]
            for each in dict.fromkeys(extra):
                self._add(each.split("\n"), result, forms)

    def _add(self, lines: Sequence[str], source: ReadResult, forms: Forms) -> None:
        section = head = ""
        for line in lines:
            line = line.strip()
            if not line:
                head = ""
            elif line.startswith(("## ", "### ", "#### ")):
                section, head = line.lstrip("# "), ""
            elif line.startswith("|"):
                if _CELL_RULE.fullmatch(line):
                    continue
                if head:
                    self._append(Line(line, section, head, source, forms))
                else:
                    head = line
            else:
                self._append(Line(line, section, "", source, forms))

    def _append(self, line: Line) -> None:
        self.lines.append(line)
        self._folded.append(folded(f"{line.head}\n{line.text}"))

    def lines_with(self, word: str) -> list[int]:
        """The lines in which a folded word may stand, with whatever ending."""
        found = self._lines_with.get(word)
        if found is None:
            start = folded(word)
            start = start if word.isdigit() else start[: max(BEGINNING, len(form(word, self.language)) - 1)]
            found = self._lines_with[word] = [n for n, line in enumerate(self._folded) if start in line]
        return found


def says_what_it_is(first: str, result: ReadResult) -> bool:
    """Whether the first line of a result is none of what was read."""
    return first.startswith("Article: ") or first.endswith(" may refer to:") or first == result.title


def folded(text: str) -> str:
    """A text in small letters, without accents and thousands separators."""
    text = _THOUSANDS.sub("", text.casefold())
    if text.isascii():
        return text
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
