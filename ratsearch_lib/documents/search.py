"""Okapi BM25 over the segments of a store, exactly: every document that holds a term of the query is scored.

score(d, q) = Σ over t in q of idf(t) · f · (k1 + 1) / (f + k1 · (1 − b + b · |d| / avgdl)), where f is how often d
holds t and |d| its length in tokens; idf(t) = ln(1 + (N − n + ½) / (n + ½)), where n of N documents hold t.
After Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

import numpy as np

from ..text import COMMON_WORDS, STOP_WORDS, folded_words, guess_language, stemmed, tokens
from .segments import Segment, counts_of, load

K1, B = 1.5, 0.75
MAX_TIES = 200  # at the place where a ranking is cut: so many are put in order of their paths, too
MAX_TERMS = 64  # of a query; whoever pastes a page means its first words


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. weights: how often each token is; tokens: all of them, for snippets."""

    weights: dict[str, int]

    @property
    def tokens(self) -> frozenset[str]:
        return frozenset(self.weights)


def parse(text: str, languages: Sequence[str] = ()) -> Query:
    """A query against documents in `languages`, the commonest first ("" for English and unknown).

    Words that say nothing are left out, unless there are no others. A word counts in each language's form.

    >>> parse("How tall are the mammals?").weights
    {'tall': 1, 'mammal': 1}
    >>> parse("to be or not to be").weights
    {'to': 2, 'be': 2, 'or': 1, 'not': 1}
    """
    words = folded_words(text)[:MAX_TERMS]
    languages = list(languages) or [""]
    guess = guess_language(text) or ""
    guess = "" if guess == "en" else guess
    main = guess if guess in languages else languages[0]
    stop = _stop_tokens(main)
    telling = [word for word in words if stemmed(word, main) not in stop] or words
    weights: Counter[str] = Counter()
    for word in telling:
        weights.update(dict.fromkeys((stemmed(word, language) for language in languages), 1))
    return Query(dict(weights))


@lru_cache(maxsize=32)
def _stop_tokens(language: str) -> frozenset[str]:
    stop = STOP_WORDS | COMMON_WORDS.get(language, frozenset())
    return frozenset(token for word in stop for token in tokens(word, language))


class Index:
    """The segments of a store as they are in one of its states."""

    def __init__(self, connection: sqlite3.Connection):
        self._connection = connection
        self._segments = load(connection)
        self.n_docs = sum(segment.n_live for segment in self._segments)
        total = sum(segment.n_tokens for segment in self._segments)
        self.average = total / self.n_docs if self.n_docs else 0.0
        self._norms = [self._norm(segment) for segment in self._segments]

    def _norm(self, segment: Segment) -> np.ndarray:
        """What is added to f below the line, for each document; infinite for the dead."""
        norm = K1 * (1 - B + B * segment.lengths / (self.average or 1.0))
        norm[segment.lengths < 0] = np.inf
        return norm

    def search(self, query: Query, k: int) -> list[tuple[int, float]]:
        """The ids and scores of the k best chunks, best first; with the last one, all that are as good (to 200)."""
        if not self.n_docs or not query.weights:
            return []
        postings = [self._postings(segment, query) for segment in self._segments]
        held = Counter()
        for segment, found in zip(self._segments, postings, strict=True):
            for term, (docs, _) in found.items():
                held[term] += np.count_nonzero(segment.lengths[docs] >= 0) if segment.has_dead else len(docs)
        factors = {
            term: weight * log(1 + (self.n_docs - held[term] + 0.5) / (held[term] + 0.5)) * (K1 + 1)
            for term, weight in query.weights.items()
        }
        best: list[tuple[int, float]] = []
        least = 0.0
        for segment, norm, found in zip(self._segments, self._norms, postings, strict=True):
            if not found:
                continue
            scores = np.zeros(len(norm))
            for term in query.weights:  # always in the same order: sums of the same terms are the same
                if term in found:
                    docs, counts = found[term]
                    if counts is None:
                        scores[docs] += factors[term] / (1.0 + norm[docs])
                    else:
                        scores[docs] += factors[term] * counts / (counts + norm[docs])
            at = np.flatnonzero(scores >= least) if least else np.flatnonzero(scores)
            if len(at) > k + MAX_TIES:
                cut = np.partition(scores[at], len(at) - k)[len(at) - k]
                at = at[scores[at] >= cut]
            best += zip(segment.chunks[at].tolist(), scores[at].tolist(), strict=True)
            if len(best) >= k:
                best = _cut(best, k)
                least = best[k - 1][1]
        return _cut(best, k)

    def count_terms(self) -> int:
        """How many different tokens the living documents hold."""
        if len(self._segments) == 1 and not self._segments[0].has_dead:
            return self._connection.execute("SELECT count(*) FROM posting").fetchone()[0]
        terms: set[str] = set()
        for segment in self._segments:
            rows = self._connection.execute("SELECT term, docs FROM posting WHERE segment = ?", (segment.id,))
            if segment.has_dead:
                alive = segment.lengths >= 0
                terms.update(term for term, docs in rows if alive[np.frombuffer(docs, "<u2")].any())
            else:
                terms.update(term for term, _ in rows)
        return len(terms)

    def _postings(self, segment: Segment, query: Query) -> dict[str, tuple[np.ndarray, np.ndarray | None]]:
        terms = list(query.weights)
        rows = self._connection.execute(
            f"SELECT term, docs, counts FROM posting WHERE segment = ? AND term IN ({','.join('?' * len(terms))})",
            (segment.id, *terms),
        )
        found = {}
        for term, blob, counts in rows:
            docs = np.frombuffer(blob, "<u2")
            found[term] = docs.astype(np.intp), counts_of(docs, counts)
        return found


def _cut(found: list[tuple[int, float]], k: int) -> list[tuple[int, float]]:
    found.sort(key=lambda each: (-each[1], each[0]))
    if len(found) <= k:
        return found
    end = k
    while end < len(found) and end < k + MAX_TIES and found[end][1] == found[k - 1][1]:
        end += 1
    return found[:end]
