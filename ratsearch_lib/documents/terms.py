"""The terms of the index: a word as text.py stems it, kept apart by language where languages stem it differently.

Without that a word's form in one language would meet another word of another one: in Portuguese "order" becomes "or".
"""

from __future__ import annotations

from ..text import ANALYZER_VERSION, stemmed

_OTHER_SCRIPTS = frozenset("ar el hi hy ne ru ta yi".split())  # a word of ASCII letters is a foreign one there
INDEX_VERSION = f"{ANALYZER_VERSION}.1"  # an index keeps the version it was built with


def term(word: str, language: str) -> str:
    """The term of a folded word in a text in `language` ("" for English and unknown).

    >>> term("names", ""), term("names", "de"), term("zebra", "de")
    ('name', 'nam@de', 'zebra')
    """
    if language in _OTHER_SCRIPTS and word.isascii():
        language = ""
    token = stemmed(word, language)
    if not language or token == stemmed(word, ""):
        return token
    return f"{token}@{language}"


class Numbers(dict):
    """The number of each folded word's term; a term that is new to `terms` gets the next one."""

    def __init__(self, language: str, terms: dict[str, int]):
        super().__init__()
        self._language, self._terms = language, terms

    def __missing__(self, word: str) -> int:
        number = self._terms.setdefault(term(word, self._language), len(self._terms))
        self[word] = number
        return number
