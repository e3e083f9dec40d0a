"""Choosing an article without the model: of those that a title and a question lead to, the one that answers best.

Candidates come from titles and, where the archive has a full-text index, from what articles say. Each is read, and the
sentences of all are ranked together by BM25, each with its article's title and its heading counted in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .archive import Entry
from .article import Article
from .article.rank import Bm25
from .errors import ArchiveError, ArticleError, EntryNotFound
from .text import STOP_WORDS, sentences, tokens

if TYPE_CHECKING:
    from .library import Library
    from .shelf import Document
    from .tools import ToolContext

FROM_TITLE, FROM_QUESTION, FROM_TEXT, FROM_DISAMBIGUATION = 2, 4, 8, 4  # candidates
MIN_COVERAGE = 0.40  # of the question's words, weighted by rarity, that its best paragraph must hold
PARAGRAPH_WEIGHT, LEAD_WEIGHT, SUBJECT_WEIGHT = 0.5, 1.1, 1.2
STOP_TOKENS = frozenset(token for word in STOP_WORDS for token in tokens(word))


@dataclass(frozen=True, slots=True)
class Candidate:
    """An article that may answer; `named` when the title asked for is its own or a redirect's."""

    entry: Entry | Document
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
    if len(found) > 1:
        found.pop(library.archive.main_path, None)  # it names everything, and answers nothing
    return list(found.values())


def _paths(library: Library, title: str, query: str) -> Iterator[tuple[str, bool]]:
    try:
        yield library.archive.entry(title).path, True
    except (EntryNotFound, ArchiveError):
        for match in library.search_titles(title, FROM_TITLE):
            yield match.path, False
    for match in library.search_titles(query, FROM_QUESTION):
        yield match.path, False
    for found in library.search_text(query, FROM_TEXT):
        yield found.path, False


def best_article(candidates: Sequence[Candidate], question: str) -> Candidate | None:
    """The candidate with the best sentence for the question; None when not even its paragraph holds enough words of it.

    A sentence's score is its own and half its paragraph's, as in `article.rank`; more in an article's lead, and more
    where it names the article's subject and the question does not: then that is likely to be what was asked for.
    """
    asked = set(tokens(question)) - STOP_TOKENS
    paragraphs = [paragraph for candidate in candidates for paragraph in _paragraphs(candidate)]
    if not asked or not paragraphs:
        return None
    in_text = Bm25([terms for paragraph in paragraphs for terms in paragraph.sentences])
    rarity = {token: in_text.idf(token) for token in asked}
    by_sentence = _scores(asked, rarity, [each for paragraph in paragraphs for each in paragraph.in_context()])
    by_paragraph = _scores(asked, rarity, [paragraph.whole() for paragraph in paragraphs])
    best, best_score, number = paragraphs[0], 0.0, 0
    for paragraph, paragraph_score in zip(paragraphs, by_paragraph, strict=True):
        for sentence in paragraph.sentences:
            score = by_sentence[number] + PARAGRAPH_WEIGHT * paragraph_score
            score *= LEAD_WEIGHT if paragraph.is_lead else 1.0
            score *= SUBJECT_WEIGHT if paragraph.title <= set(sentence) and not paragraph.title <= asked else 1.0
            number += 1
            if score > best_score:
                best, best_score = paragraph, score
    held = sum(rarity[token] for token in asked & set(best.whole()))
    return best.candidate if held >= MIN_COVERAGE * sum(rarity.values()) else None


def _scores(asked: set[str], rarity: dict[str, float], documents: list[list[str]]) -> list[float]:
    """BM25 of the documents, each word as rare as `rarity` says: titles, counted in, would make their words common."""
    bm25 = Bm25(documents)
    return bm25.scores({token: rarity[token] / bm25.idf(token) for token in asked})


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """The tokens of a paragraph's sentences, of its article's title, and of title and heading together."""

    candidate: Candidate
    sentences: list[list[str]]
    title: frozenset[str]
    above: tuple[str, ...]
    is_lead: bool

    def in_context(self) -> list[list[str]]:
        """Each sentence with what of title and heading it lacks, a word once: saying it twice answers no better."""
        return [list(dict.fromkeys([*sentence, *self.above])) for sentence in self.sentences]

    def whole(self) -> list[str]:
        found = [token for sentence in self.sentences for token in sentence]
        return found + [token for token in self.above if token not in found]


def _paragraphs(candidate: Candidate) -> Iterator[_Paragraph]:
    article = candidate.article
    blocks = [("", "\n".join(f"{key}: {value}" for key, value in article.infobox), False), ("", article.lead, True)]
    blocks += [(section.heading, section.text, False) for section in article.sections]
    title = tokens(article.title)
    for heading, text, is_lead in blocks:
        above = tuple(dict.fromkeys(title + tokens(heading)))
        for paragraph in text.split("\n\n"):
            found = [tokens(sentence) for sentence in sentences(paragraph)]
            if found:
                yield _Paragraph(candidate, found, frozenset(title), above, is_lead)
