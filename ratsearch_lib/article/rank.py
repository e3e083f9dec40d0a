"""How well each sentence and paragraph of an article answers a question: BM25 of both, and of the neighbours.

BM25 after Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with each sentence,
list item or table row as a document, and once more with each paragraph, list or table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from ..text import STOP_WORDS, guess_language, sentences, tokens
from .model import Article
from .render import pieces

K1, B = 1.5, 0.75
BLOCK_WEIGHT, NEIGHBOUR_WEIGHT = 0.5, 0.25
HISTORY_WEIGHT = 0.3


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
    """A paragraph, list, table or piece of code. `head` is a table's caption and header rows, "" elsewhere."""

    text: str
    section: int
    kind: str
    first: int  # its units' numbers: first, and the one after the last
    end: int
    head: str = ""


class Index:
    """An article cut into blocks and units, with BM25 over each."""

    def __init__(self, article: Article):
        self.units: list[Unit] = []
        self.blocks: list[Block] = []
        for section, text in pieces(article):
            if text.startswith("#"):
                continue
            kind, head, parts = cut(text)
            number = len(self.blocks)
            first = len(self.units)
            self.units += [Unit(part, number, section) for part in parts]
            self.blocks.append(Block(text, section, kind, first, len(self.units), head))
        self.language = guess_language(" ".join(block.text for block in self.blocks[:40])) or ""
        self.headings = [tokens(section.heading, self.language) for section in article.sections]
        heads = [
            tokens(block.head, self.language) + (self.headings[block.section] if block.section >= 0 else [])
            for block in self.blocks
        ]
        words = [tokens(unit.text, self.language) for unit in self.units]
        self.by_unit = Bm25(words)
        self.by_block = Bm25(
            [
                head + [word for unit in words[block.first : block.end] for word in unit]
                for head, block in zip(heads, self.blocks, strict=True)
            ]
        )

    def query(self, question: str, previous: Sequence[str]) -> dict[str, float]:
        query: dict[str, float] = {}
        for text, weight in [(question, 1.0), *((text, HISTORY_WEIGHT) for text in previous[-2:])]:
            for token in self._content(text):
                query[token] = max(query.get(token, 0.0), weight)
        return query

    def _content(self, text: str) -> list[str]:
        stop = _stop_tokens(self.language)
        found = tokens(text, self.language)
        return [token for token in found if token not in stop] or found

    def scores(self, question: str, previous: Sequence[str] = ()) -> tuple[list[float], list[float]]:
        """A score for each unit and for each block."""
        query = self.query(question, previous)
        units, blocks = self.by_unit.scores(query), self.by_block.scores(query)
        mixed = []
        for number, unit in enumerate(self.units):
            before = units[number - 1] if number else 0.0
            after = units[number + 1] if number + 1 < len(units) else 0.0
            mixed.append(units[number] + BLOCK_WEIGHT * blocks[unit.block] + NEIGHBOUR_WEIGHT * max(before, after))
        return mixed, blocks


@lru_cache(maxsize=32)
def _stop_tokens(language: str) -> frozenset[str]:
    return frozenset(token for word in STOP_WORDS for token in tokens(word, language))


@lru_cache(maxsize=8)
def index(article: Article) -> Index:
    return Index(article)


def cut(text: str) -> tuple[str, str, list[str]]:
    """What kind of block it is, its head (a table's), and its units."""
    lines = text.split("\n")
    first = lines[0].lstrip(" >")
    if first.startswith(("```", "~~~")):
        return "code", "", [text]
    table = [number for number, line in enumerate(lines) if line.lstrip(" >").startswith("| ---")]
    if table:
        body = table[0] + 1
        return "table", "\n".join(lines[:body]), lines[body:] or [text]
    if first.startswith("- ") or first.split(". ", 1)[0].isdecimal():
        items: list[str] = []
        for line in lines:
            if items and line.startswith(" "):
                items[-1] += "\n" + line
            else:
                items.append(line)
        return "list", "", items
    return "paragraph", "", sentences(text)
