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

if TYPE_CHECKING:
    import tantivy

WORDS, VOCABULARY, FREQUENT = "words", "vocabulary", "frequent.json"
WRITER_BYTES = 200_000_000  # tantivy's buffer; smaller gives more segments to merge
MIN_WRITER_BYTES = 16_000_000
FREQUENT_SHARE = 1 / 20_000  # a word in more titles than this has its frequency kept beside the index


def trigrams(word: str) -> set[str]:
    """Three letters at a time, with the word's ends marked.

    >>> sorted(trigrams("rat"))
    ['^ra', 'at$', 'rat']
    """
    marked = f"^{word}$"
    return {marked[i : i + 3] for i in range(len(marked) - 2)}


class WordIndexWriter:
    """Writes both indexes. `add` takes a title's index terms, in the order of positions."""

    def __init__(self, folder: Path):
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_text_field("word", tokenizer_name="whitespace", index_option="basic")
        schema.add_unsigned_field("position", fast=True)
        (folder / WORDS).mkdir()
        index = tantivy.Index(schema.build(), path=str(folder / WORDS))
        self._folder = folder
        # one thread, so that documents stay in the order of their positions
        self._writer = index.writer(WRITER_BYTES, 1)
        self._document = tantivy.Document
        self.count = 0
        self._first_letters: set[str] = set()

    def add(self, terms: list[str]) -> None:
        document = self._document()
        document.add_text("word", " ".join(terms))
        document.add_unsigned("position", self.count)
        self._writer.add_document(document)
        self.count += 1
        self._first_letters.update([term[0] for term in terms])

    def close(self) -> None:
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._write_vocabulary()

    def _write_vocabulary(self) -> None:
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_text_field("word", tokenizer_name="raw", index_option="basic", stored=True)
        schema.add_text_field("trigram", tokenizer_name="whitespace", index_option="basic")
        schema.add_unsigned_field("titles", fast=True)
        (self._folder / VOCABULARY).mkdir()
        vocabulary = tantivy.Index(schema.build(), path=str(self._folder / VOCABULARY))
        writer = vocabulary.writer(WRITER_BYTES, 1)
        searcher = tantivy.Index.open(str(self._folder / WORDS)).searcher()
        threshold = self.count * FREQUENT_SHARE
        frequent = {}
        for letter in sorted(self._first_letters):  # by first letter: all words at once would fill the memory
            for word, titles in searcher.terms_with_prefix("word", letter):
                if titles > threshold:
                    frequent[word] = titles
                if len(word) > 2 and not word.isdigit() and letter != "=":
                    document = tantivy.Document()
                    document.add_text("word", word)
                    document.add_text("trigram", " ".join(sorted(trigrams(word))))
                    document.add_unsigned("titles", titles)
                    writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        (self._folder / FREQUENT).write_text(json.dumps(frequent, ensure_ascii=False), encoding="utf-8")


class WordIndex:
    """Reads both indexes."""

    def __init__(self, folder: Path):
        import tantivy

        self._tantivy = tantivy
        words = tantivy.Index.open(str(folder / WORDS))
        vocabulary = tantivy.Index.open(str(folder / VOCABULARY))
        self._words, self._words_schema = words.searcher(), words.schema
        self._vocabulary, self._vocabulary_schema = vocabulary.searcher(), vocabulary.schema
        self.count = self._words.num_docs
        self.frequent: dict[str, int] = json.loads((folder / FREQUENT).read_text(encoding="utf-8"))
        rare = min(6, math.ceil(self.count * FREQUENT_SHARE))
        self._rare_weight = self.weight_of(rare)  # of words whose frequency is not kept: not worth a look-up
        self._bases = self._segment_bases()
        self.titles_with = lru_cache(4096)(self._titles_with)

    def weight_of(self, titles: int) -> float:
        """Inverse document frequency, as in BM25: rare words count for more."""
        return math.log1p(self.count / (titles + 0.5))

    def weight(self, word: str) -> float:
        titles = self.frequent.get(word)
        return self.weight_of(titles) if titles else self._rare_weight

    @property
    def unknown_weight(self) -> float:
        return self._rare_weight

    def _titles_with(self, word: str) -> int:
        return self.frequent.get(word) or self._words.doc_freq("word", word)

    # Titles by word

    def any_of(self, weights: dict[str, float], limit: int) -> list[int]:
        """Positions of the titles that score best over these words, each boosted by its weight."""
        query = self._tantivy.Query
        should = self._tantivy.Occur.Should
        clauses = [(should, query.boost_query(self._term(word), boost)) for word, boost in weights.items()]
        return self._search(query.boolean_query(clauses), limit)

    def all_of(self, groups: Iterable[dict[str, float]], limit: int) -> list[int]:
        """Positions of the titles that hold a word of each group, best first."""
        query, occur = self._tantivy.Query, self._tantivy.Occur
        clauses = []
        for group in groups:
            terms = [(occur.Should, query.boost_query(self._term(word), boost)) for word, boost in group.items()]
            clauses.append((occur.Must, terms[0][1] if len(terms) == 1 else query.boolean_query(terms)))
        return self._search(query.boolean_query(clauses), limit)

    def _term(self, word: str) -> tantivy.Query:
        return self._tantivy.Query.term_query(self._words_schema, "word", word)

    def _search(self, query: tantivy.Query, limit: int) -> list[int]:
        addresses = [address for _, address in self._words.search(query, limit, count=False).hits]
        if self._bases is None:
            return self._words.fast_field_values("position", addresses)
        return [self._bases[address.segment_ord] + address.doc for address in addresses]

    def _segment_bases(self) -> list[int] | None:
        """The first position of each segment, if each holds a run of positions in order; None if merging mixed them.

        Reading positions from the index instead takes 3 ms a query at 20 million titles.
        """
        address = self._tantivy.DocAddress
        segments = range(self._words.num_segments)
        if not self.count:
            return []
        firsts = self._words.fast_field_values("position", [address(segment, 0) for segment in segments])
        ends = [*sorted(firsts)[1:], self.count]
        for segment, first in zip(segments, firsts, strict=True):
            last = min(end for end in ends if end > first) - 1
            try:
                found = self._words.fast_field_values("position", [address(segment, last - first)])
            except (ValueError, IndexError):
                return None
            if found != [last]:
                return None
        return firsts

    # Words by likeness

    def within_one_edit(self, word: str, limit: int) -> list[str]:
        """Known words one insertion, deletion, substitution or swap away, the most frequent first."""
        query = self._tantivy.Query.fuzzy_term_query(self._vocabulary_schema, "word", word, 1)
        hits = self._vocabulary.search(query, limit, count=False, weight_by_field="titles").hits
        return [self._vocabulary.doc(address)["word"][0] for _, address in hits]

    def sharing_trigrams(self, word: str, limit: int) -> list[str]:
        query, should = self._tantivy.Query, self._tantivy.Occur.Should
        schema = self._vocabulary_schema
        terms = [(should, query.term_query(schema, "trigram", each)) for each in sorted(trigrams(word))]
        hits = self._vocabulary.search(query.boolean_query(terms), limit, count=False).hits
        return [self._vocabulary.doc(address)["word"][0] for _, address in hits]
