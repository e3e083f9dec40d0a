"""How well each sentence and paragraph of an article answers a question: BM25 of both, and of the neighbours.

BM25 after Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with each sentence,
list item or table row as a document, and once more with each paragraph, list or table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from ..text import COMMON_WORDS, STOP_WORDS, guess_language, sentences, tokens
from . import render
from .model import Article

K1, B = 1.2, 0.75
BLOCK_WEIGHT, NEIGHBOUR_WEIGHT = 0.7, 0.25
TITLE_WEIGHT = 0.6  # of a question's word that the title has: all the article is about it
HISTORY_WEIGHTS = (0.5, 0.25)  # of the question before, and of the one before that
# Beginnings of words count a little: "Norman" for "Normandy", "invaded" for "invasion", half a German compound.
PREFIX, PREFIX_WEIGHT = 4, 0.4


_NOTE = re.compile(r"\([^()]{3,300}(?:\([^()]*\)[^()]*)*\)")


class Bm25:
    """BM25 scores of a fixed list of token lists."""

    def __init__(self, documents: Sequence[Sequence[str]]):
        self.n = len(documents)
        average = sum(map(len, documents)) / self.n if self.n else 1.0
        self.postings: dict[str, list[tuple[int, float]]] = {}
        for number, document in enumerate(documents):
            norm = K1 * (1 - B + B * len(document) / (average or 1.0))
            for token, count in Counter(document).items():
                self.postings.setdefault(token, []).append((number, count * (K1 + 1) / (count + norm)))

    def idf(self, token: str) -> float:
        df = len(self.postings.get(token, ()))
        return log(1 + (self.n - df + 0.5) / (df + 0.5))

    def scores(self, query: dict[str, float]) -> list[float]:
        """A score for each document; `query` gives each token's weight."""
        found = [0.0] * self.n
        for token, weight in query.items():
            weight *= self.idf(token)
            for number, part in self.postings.get(token, ()):
                found[number] += weight * part
        return found


@dataclass(frozen=True, slots=True)
class Unit:
    """What is shown or left out whole: a sentence, a list item with those inside it, or a table row."""

    text: str
    block: int
    section: int


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, table, piece of code, or list (or other lines). `head` is a table's caption and header rows."""

    text: str
    section: int
    kind: str  # "paragraph", "table", "code", "lines", or "note": "(Main article: …)"
    first: int  # its units' numbers: first, and the one after the last
    end: int
    head: str = ""


class Index:
    """An article cut into blocks and units, with BM25 over each."""

    def __init__(self, article: Article):
        self.units: list[Unit] = []
        self.blocks: list[Block] = []
        infobox = render.infobox(article)
        for section, text in render.pieces(article):
            if text.startswith("#"):
                continue
            kind, head, parts = cut(text) if text != infobox else ("lines", "", text.split("\n"))
            first = len(self.units)
            self.units += [Unit(part, len(self.blocks), section) for part in parts]
            self.blocks.append(Block(text, section, kind, first, len(self.units), head))
        self.language = guess_language(" ".join(block.text for block in self.blocks[:40])) or article.language
        self.title = set(self._terms(article.title))
        headings = [self._terms(section.heading) for section in article.sections]
        terms = [self._terms(unit.text) for unit in self.units]
        whole: list[list[str]] = []
        for block in self.blocks:
            head = self._terms(block.head) + (headings[block.section] if block.section >= 0 else [])
            whole.append(sum(terms[block.first : block.end], head))
        self.by_unit = Bm25(terms)
        self.by_block = Bm25(whole)

    def _terms(self, text: str) -> list[str]:
        found = tokens(text, self.language)
        return found + [_prefix(token) for token in found if len(token) >= PREFIX]

    def query(self, question: str, previous: Sequence[str] = ()) -> dict[str, float]:
        """The weight of each term of the question and, less, of those before it."""
        query: dict[str, float] = {}
        asked = [(question, 1.0), *zip(reversed(previous), HISTORY_WEIGHTS, strict=False)]
        for text, weight in asked:
            found = tokens(text, self.language)
            for token in [token for token in found if token not in _stop_tokens(self.language)] or found:
                here = weight * (TITLE_WEIGHT if token in self.title else 1.0)
                query[token] = max(query.get(token, 0.0), here)
                if len(token) >= PREFIX:
                    prefix = _prefix(token)
                    query[prefix] = max(query.get(prefix, 0.0), here * PREFIX_WEIGHT)
        return query

    def scores(self, question: str, previous: Sequence[str] = ()) -> tuple[list[float], list[float]]:
        """A score for each unit, its block's and its neighbours' counted in, and for each block."""
        query = self.query(question, previous)
        units, blocks = self.by_unit.scores(query), self.by_block.scores(query)
        around = [max(pair) for pair in zip([0.0, *units[:-1]], [*units[1:], 0.0], strict=False)]
        mixed = [
            units[number] + BLOCK_WEIGHT * blocks[unit.block] + NEIGHBOUR_WEIGHT * around[number]
            if self.blocks[unit.block].kind != "note"
            else 0.0
            for number, unit in enumerate(self.units)
        ]
        return mixed, blocks


def _prefix(token: str) -> str:
    return "^" + token[:PREFIX]


@lru_cache(maxsize=32)
def _stop_tokens(language: str) -> frozenset[str]:
    stop = STOP_WORDS | COMMON_WORDS.get(language, frozenset())
    return frozenset(token for word in stop for token in tokens(word, language))


@lru_cache(maxsize=8)
def index(article: Article) -> Index:
    """The index of an article; those of the last eight are kept."""
    return Index(article)


def cut(text: str) -> tuple[str, str, list[str]]:
    """What kind of block it is, its head (a table's), and its units."""
    lines = text.split("\n")
    first = lines[0].lstrip(" >")
    if first.startswith(("```", "~~~")):
        return "code", "", [text]
    ruled = [number for number, line in enumerate(lines) if line.lstrip(" >").startswith("| ---")]
    if ruled and ruled[0] + 1 < len(lines):
        return "table", "\n".join(lines[: ruled[0] + 1]), lines[ruled[0] + 1 :]
    if first.startswith("- ") or first.split(". ", 1)[0].isdecimal():
        items: list[str] = []
        for line in lines:
            if items and line.startswith(" "):
                items[-1] += "\n" + line
            else:
                items.append(line)
        return "lines", "", items
    if len(lines) > 2 and max(map(len, lines)) < 200:  # a poem, an address
        return "lines", "", [line for line in lines if line.strip()]
    if len(lines) == 1 and _NOTE.fullmatch(text):
        return "note", "", [text]
    return "paragraph", "", sentences(text)
