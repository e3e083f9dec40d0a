"""Choosing an article without the model: of those that a title and a question lead to, the one that answers best.

Candidates come from titles and, where the archive has a full-text index, from what articles say. Each is read, and the
paragraphs of all are ranked together by BM25 (Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework"),
each with its article's title and its heading counted in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .archive import Entry
from .article import Article
from .errors import ArchiveError, ArticleError, EntryNotFound
from .text import STOP_WORDS, tokens
from .xapian import search_text

if TYPE_CHECKING:
    from .library import Library
    from .tools import ToolContext

K1, B = 1.5, 0.75
FROM_TITLE, FROM_QUESTION, FROM_TEXT, FROM_DISAMBIGUATION = 2, 4, 8, 4  # candidates
MIN_COVERAGE = 0.5  # of the question's words, weighted by rarity, that its best paragraph must hold
STOP_TOKENS = frozenset(token for word in STOP_WORDS for token in tokens(word))


@dataclass(frozen=True, slots=True)
class Candidate:
    """An article that may answer; `named` when the title asked for is its own or a redirect's."""

    entry: Entry
    article: Article
    named: bool


def gather(library: Library, title: str, context: ToolContext) -> list[Candidate]:
    """The articles worth reading for a question, those that the title names first."""
    found: dict[str, Candidate] = {}

    def add(entry: Entry, named: bool = False) -> None:
        if entry.path in found:
            return
        try:
            found[entry.path] = Candidate(entry, library.article(entry), named)
        except (ArticleError, ArchiveError):
            return

    for path, named in _paths(library, title, context.query):
        try:
            add(library.archive.entry(path), named)
        except (EntryNotFound, ArchiveError):
            continue
    for candidate in list(found.values()):
        if candidate.article.is_disambiguation:
            del found[candidate.entry.path]
            for target, _ in candidate.article.links[:FROM_DISAMBIGUATION]:
                try:
                    add(library.archive.entry(target))
                except (EntryNotFound, ArchiveError):
                    continue
    return list(found.values())


def _paths(library: Library, title: str, query: str) -> Iterator[tuple[str, bool]]:
    try:
        yield library.archive.entry(title).path, True
    except (EntryNotFound, ArchiveError):
        for match in library.search_titles(title, FROM_TITLE):
            yield match.path, False
    for match in library.search_titles(query, FROM_QUESTION):
        yield match.path, False
    for entry in search_text(library.archive, query, FROM_TEXT):
        yield entry.path, False


def best_article(candidates: Sequence[Candidate], question: str) -> Candidate | None:
    """The candidate with the best paragraph for the question; None when not even that holds enough of its words."""
    asked = set(tokens(question)) - STOP_TOKENS
    paragraphs = [(candidate, terms) for candidate in candidates for terms in _paragraphs(candidate.article)]
    if not asked or not paragraphs:
        return None
    frequency = Counter(token for _, terms in paragraphs for token in asked.intersection(terms))
    n = len(paragraphs)
    weight = {token: math.log(1 + (n - frequency[token] + 0.5) / (frequency[token] + 0.5)) for token in asked}
    mean_length = sum(sum(terms.values()) for _, terms in paragraphs) / n

    def bm25(terms: Counter[str]) -> float:
        norm = K1 * (1 - B + B * sum(terms.values()) / mean_length)
        return sum(weight[token] * terms[token] * (K1 + 1) / (terms[token] + norm) for token in asked if token in terms)

    best, terms = max(paragraphs, key=lambda each: bm25(each[1]))
    coverage = sum(weight[token] for token in asked if token in terms) / sum(weight.values())
    return best if coverage >= MIN_COVERAGE else None


def _paragraphs(article: Article) -> Iterator[Counter[str]]:
    """The tokens of each paragraph, its article's title and its heading counted in."""
    title = tokens(article.title)
    yield Counter(title + [token for key, value in article.infobox for token in tokens(f"{key} {value}")])
    for heading, text in [("", article.lead), *((each.heading, each.text) for each in article.sections)]:
        head = title + tokens(heading)
        for paragraph in text.split("\n\n"):
            yield Counter(head + tokens(paragraph))
