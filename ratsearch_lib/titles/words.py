"""The words of all titles: which titles hold a word (tantivy, BM25), and which words look like one that was mistyped.

Two tantivy indexes: `words`, one document a title, in the order they came; `vocabulary`, one document a word, found by
edit distance 1 or by the trigrams that it shares. Both are read through memory maps. What was typed only ever becomes
term queries: no query parser sees it.
"""

from __future__ import annotations

import json
import math
import string
from array import array
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from .files import Numbers, close_map, map_file, write_synced
from .sound import sound

if TYPE_CHECKING:
    import tantivy

WORDS, VOCABULARY, FREQUENT = "words", "vocabulary", "frequent.json"
SPELLINGS, SPELLING_ENDS = "spellings.bin", "spelling_ends.bin"  # of the vocabulary: UTF-8; uint32 ends
WRITER_BYTES = 200_000_000  # tantivy's buffer; smaller gives more segments to merge
MIN_WRITER_BYTES = 16_000_000
CACHED = 2048  # look-ups kept
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
        self._folder = folder
        try:
            index = tantivy.Index(schema.build(), path=str(folder / WORDS))
            # one thread, so that documents stay in the order of their positions
            self._writer = index.writer(WRITER_BYTES, 1)
        except ValueError as error:  # as tantivy tells of a full disk
            raise OSError(str(error)) from error
        self._document = tantivy.Document
        self.count = 0
        self._first_letters = set(string.ascii_lowercase + string.digits + "=")

    def add(self, terms: list[str]) -> None:
        text = " ".join(terms)
        document = self._document()
        document.add_text("word", text)
        document.add_unsigned("position", self.count)
        try:
            self._writer.add_document(document)
        except ValueError as error:  # as tantivy tells of a full disk
            raise OSError(str(error)) from error
        self.count += 1
        if not text.isascii():
            self._first_letters.update([term[0] for term in terms])

    def close(self) -> None:
        try:
            self._writer.commit()
            self._writer.wait_merging_threads()
            self._writer = None  # and its buffer
            self._write_vocabulary()
        except ValueError as error:
            raise OSError(str(error)) from error

    def abandon(self) -> None:
        """Lets go of the files, which are of no more use."""
        self._writer = None

    def _write_vocabulary(self) -> None:
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_text_field("word", tokenizer_name="raw", index_option="basic")
        schema.add_text_field("trigram", tokenizer_name="whitespace", index_option="basic")
        schema.add_text_field("sound", tokenizer_name="raw", index_option="basic")
        schema.add_unsigned_field("titles", fast=True)
        schema.add_unsigned_field("position", fast=True)
        (self._folder / VOCABULARY).mkdir()
        vocabulary = tantivy.Index(schema.build(), path=str(self._folder / VOCABULARY))
        writer = vocabulary.writer(WRITER_BYTES, 1)
        searcher = tantivy.Index.open(str(self._folder / WORDS)).searcher()
        threshold = self.count * FREQUENT_SHARE
        frequent = {}
        spellings, ends = bytearray(), array("I")
        for letter in sorted(self._first_letters):  # by first letter: all words at once would fill the memory
            for word, titles in searcher.terms_with_prefix("word", letter):
                if titles > threshold:
                    frequent[word] = titles
                if len(word) > 2 and not word.isdigit() and letter != "=":
                    document = tantivy.Document()
                    document.add_text("word", word)
                    document.add_text("trigram", " ".join(sorted(trigrams(word))))
                    document.add_text("sound", sound(word))
                    document.add_unsigned("titles", titles)
                    document.add_unsigned("position", len(ends))
                    writer.add_document(document)
                    spellings += word.encode()
                    ends.append(len(spellings))
        writer.commit()
        writer.wait_merging_threads()
        write_synced(self._folder / FREQUENT, json.dumps(frequent, ensure_ascii=False).encode())
        write_synced(self._folder / SPELLINGS, spellings)
        write_synced(self._folder / SPELLING_ENDS, ends.tobytes())


class _Documents:
    """A tantivy index that gives back positions: the numbers of its documents in the order they were added."""

    def __init__(self, folder: Path):
        import tantivy

        index = tantivy.Index.open(str(folder))
        self.schema = index.schema
        self.searcher = index.searcher()
        self._address = tantivy.DocAddress
        self._bases = self._segment_bases()

    def search(self, query: tantivy.Query, limit: int, by: str | None = None) -> list[int]:
        """Positions of the best documents, by BM25 or by the value of a field."""
        hits = self.searcher.search(query, limit, count=False, weight_by_field=by).hits
        if self._bases is None:
            return self.searcher.fast_field_values("position", [address for _, address in hits])
        return [self._bases[address.segment_ord] + address.doc for _, address in hits]

    def _segment_bases(self) -> list[int] | None:
        """The first position of each segment, if each holds a run of positions in order; None if merging mixed them.

        Reading positions from the index instead takes 3 ms a query at 20 million titles.
        """
        count, segments = self.searcher.num_docs, range(self.searcher.num_segments)
        if not count:
            return []
        firsts = self.searcher.fast_field_values("position", [self._address(segment, 0) for segment in segments])
        ends = [*sorted(firsts)[1:], count]
        for segment, first in zip(segments, firsts, strict=True):
            last = min(end for end in ends if end > first) - 1
            try:
                found = self.searcher.fast_field_values("position", [self._address(segment, last - first)])
            except (ValueError, IndexError):
                return None
            if found != [last]:
                return None
        return firsts


class WordIndex:
    """Reads both indexes."""

    def __init__(self, folder: Path):
        import tantivy

        self._query, self._occur = tantivy.Query, tantivy.Occur
        self._words = _Documents(folder / WORDS)
        self._vocabulary = _Documents(folder / VOCABULARY)
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

    def _any(self, field: str, weights: dict[str, float], documents: _Documents) -> tantivy.Query:
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
