"""The words of all titles: which titles hold a word (tantivy, BM25), and which words look like one that was mistyped.

Two tantivy indexes: `words`, one document a title, in the order they came; `vocabulary`, one document a word, found by
edit distance 1 or by the trigrams that it shares. Both are read through memory maps. What was typed only ever becomes
term queries: no query parser sees it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from .files import Numbers, close_map, map_file
from .ordered import OrderedReader
from .sound import sound

if TYPE_CHECKING:
    import tantivy

WORDS, VOCABULARY, FREQUENT = "words", "vocabulary", "frequent.json"
SPELLINGS, SPELLING_ENDS = "spellings.bin", "spelling_ends.bin"  # of the vocabulary: UTF-8; uint32 ends
CACHED = 2048  # look-ups kept
FREQUENT_SHARE = 1 / 20_000  # a word in more titles than this has its frequency kept beside the index


def trigrams(word: str) -> set[str]:
    """Three letters at a time, with the word's ends marked.

    >>> sorted(trigrams("rat"))
    ['^ra', 'at$', 'rat']
    """
    marked = f"^{word}$"
    return {marked[i : i + 3] for i in range(len(marked) - 2)}


class WordIndex:
    """Reads both indexes."""

    def __init__(self, folder: Path):
        import tantivy

        self._query, self._occur = tantivy.Query, tantivy.Occur
        self._words = OrderedReader(folder / WORDS)
        self._vocabulary = OrderedReader(folder / VOCABULARY)
        self._spellings, self._ends = map_file(folder / SPELLINGS), Numbers(folder / SPELLING_ENDS, "I")
        self.count = self._words.searcher.num_docs
        self.frequent: dict[str, int] = json.loads((folder / FREQUENT).read_text(encoding="utf-8"))
        # of words whose frequency is not kept, in titles: not worth a look-up each
        self.rare_weight = self.weight_of(min(6, math.ceil(self.count * FREQUENT_SHARE)))
        # a query asks for the same words several times, the next query often for some of them again
        self.weight = lru_cache(4 * CACHED)(self._weight)
        self.titles_with = lru_cache(CACHED)(self._titles_with)
        self.within_one_edit = lru_cache(CACHED)(self._within_one_edit)
        self.sharing_trigrams = lru_cache(CACHED)(self._sharing_trigrams)
        self.sounding_like = lru_cache(CACHED)(self._sounding_like)

    def weight_of(self, titles: int) -> float:
        """Inverse document frequency, as in BM25: rare words count for more."""
        return math.log1p(self.count / (titles + 0.5))

    def _weight(self, word: str) -> float:
        titles = self.frequent.get(word)
        return self.weight_of(titles) if titles else self.rare_weight

    def _titles_with(self, word: str) -> int:
        return self.frequent.get(word) or self._words.searcher.doc_freq("word", word)

    # Titles by word

    def any_of(self, weights: dict[str, float], limit: int) -> list[int]:
        """Positions of the titles that score best over these words, each boosted by its weight."""
        return self._words.search(self._any("word", weights, self._words), limit)

    def all_of(self, groups: Iterable[dict[str, float]], limit: int) -> list[int]:
        """Positions of the titles that hold a word of each group, best first."""
        clauses = [(self._occur.Must, self._any("word", group, self._words)) for group in groups]
        return self._words.search(self._query.boolean_query(clauses), limit)

    def _any(self, field: str, weights: dict[str, float], documents: OrderedReader) -> tantivy.Query:
        terms = [
            (self._occur.Should, self._query.boost_query(self._query.term_query(documents.schema, field, term), boost))
            for term, boost in weights.items()
        ]
        return terms[0][1] if len(terms) == 1 else self._query.boolean_query(terms)

    # Words by likeness

    def _within_one_edit(self, word: str, limit: int) -> list[str]:
        """Known words one insertion, deletion, substitution or swap away, the most frequent first."""
        query = self._query.fuzzy_term_query(self._vocabulary.schema, "word", word, 1)
        return self._spelling(self._vocabulary.search(query, limit, by="titles"))

    def _sharing_trigrams(self, word: str, limit: int) -> list[str]:
        weights = dict.fromkeys(sorted(trigrams(word)), 1.0)
        return self._spelling(self._vocabulary.search(self._any("trigram", weights, self._vocabulary), limit))

    def _sounding_like(self, word: str, limit: int) -> list[str]:
        """Known words with the same `sound`, the most frequent first."""
        query = self._query.term_query(self._vocabulary.schema, "sound", sound(word))
        return self._spelling(self._vocabulary.search(query, limit, by="titles"))

    def _spelling(self, positions: list[int]) -> list[str]:
        ends, text = self._ends, self._spellings
        return [text[ends[each - 1] if each else 0 : ends[each]].decode() for each in positions]

    def close(self) -> None:
        close_map(self._spellings)
        self._ends.close()
