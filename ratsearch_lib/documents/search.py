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
from .terms import term

K1, B = 1.5, 0.75
MAX_TIES = 200  # at the place where a ranking is cut: so many are put in order of their paths, too
MAX_TERMS = 64  # of a query; whoever pastes a page means its first words
MANY = 1000  # documents with a word, which are looked at one by one no more once the best are known
MARGIN = 1 - 1e-9  # of bounds, for what rounding does to sums

Forms = tuple[str, ...]
Postings = tuple[np.ndarray, "np.ndarray | None"]  # documents, how often each
_NOTHING: Postings = np.zeros(0, "<u2"), None


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. weights: each word, as the terms that it is in the languages of the store, how often."""

    weights: dict[Forms, int]

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(term for forms in self.weights for term in forms)


def parse(text: str, languages: Sequence[str] = ()) -> Query:
    """A query against documents in `languages`, the commonest first ("" for English and unknown).

    Words that say nothing are left out, unless there are no others.

    >>> parse("How tall are the mammals?").weights
    {('tall',): 1, ('mammal',): 1}
    >>> parse("to be or not to be").weights
    {('to',): 2, ('be',): 2, ('or',): 1, ('not',): 1}
    """
    words = folded_words(text)[:MAX_TERMS]
    languages = list(languages) or [""]
    guess = guess_language(text) or ""
    guess = "" if guess == "en" else guess
    main = guess if guess in languages else languages[0]
    stop = _stop_tokens(main)
    telling = [word for word in words if stemmed(word, main) not in stop] or words
    return Query(dict(Counter(tuple(dict.fromkeys(term(word, each) for each in languages)) for word in telling)))


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
        held: Counter[Forms] = Counter()
        for segment, found in zip(self._segments, postings, strict=True):
            for forms, (docs, _) in found.items():
                held[forms] += np.count_nonzero(segment.lengths[docs] >= 0) if segment.has_dead else len(docs)
        factors = [
            (weight * log(1 + (self.n_docs - held[forms] + 0.5) / (held[forms] + 0.5)) * (K1 + 1), forms)
            for forms, weight in query.weights.items()
        ]
        factors.sort(key=lambda each: -each[0])
        best: list[tuple[int, float]] = []
        by_size = sorted(zip(self._segments, self._norms, postings, strict=True), key=lambda each: -each[0].n_live)
        for segment, norm, found in by_size:  # so that a good bound is known early
            if found:
                at, scores = _score(norm, factors, found, k, best[k - 1][1] if len(best) >= k else 0.0)
                best += zip(segment.chunks[at].tolist(), scores.tolist(), strict=True)
                best = _cut(best, k)
        return best

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

    def _postings(self, segment: Segment, query: Query) -> dict[Forms, Postings]:
        terms = list(query.terms)
        rows = self._connection.execute(
            f"SELECT term, docs, counts FROM posting WHERE segment = ? AND term IN ({','.join('?' * len(terms))})",
            (segment.id, *terms),
        )
        held = {}
        for name, blob, counts in rows:
            docs = np.frombuffer(blob, "<u2")
            held[name] = docs, counts_of(docs, counts)
        return {
            forms: _joined(there)
            for forms in query.weights
            if held and (there := [held[name] for name in forms if name in held])
        }


def _joined(postings: list[Postings]) -> Postings:
    """The documents that hold any form of a word, and how often all of them together."""
    if len(postings) == 1:
        return postings[0]
    docs = np.concatenate([docs for docs, _ in postings])
    counts = np.concatenate([np.ones(len(docs)) if counts is None else counts for docs, counts in postings])
    order = np.argsort(docs, kind="stable")
    docs, counts = docs[order], counts[order]
    firsts = np.flatnonzero(np.concatenate(([True], docs[1:] != docs[:-1])))
    return (docs, counts) if len(firsts) == len(docs) else (docs[firsts], np.add.reduceat(counts, firsts))


def _score(
    norm: np.ndarray, factors: list[tuple[float, Forms]], found: dict[Forms, Postings], k: int, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """The documents of a segment that score at least `least` (or are among the k best, and as good), their scores.

    The words come in the order of what they can add. Once those that are left cannot lift a document among the best by
    themselves, only the documents are looked at that have come near it already (Turtle and Flood's MaxScore, 1995).
    """
    scores = np.zeros(len(norm))
    near: np.ndarray | None = None
    left = sum(factor for factor, _ in factors)
    for factor, forms in factors:
        docs, counts = found.get(forms, _NOTHING)
        if near is None and len(docs) > MANY:
            some = scores[np.flatnonzero(scores)]
            if len(some) >= k:
                least = max(least, np.partition(some, len(some) - k)[len(some) - k])
            if left < least * MARGIN:
                near = np.flatnonzero(scores >= (least - left) * MARGIN)
        left -= factor
        if near is not None and len(docs):
            at = np.searchsorted(docs, near.astype(docs.dtype))
            at[at == len(docs)] = 0
            at = at[docs[at] == near]
            docs, counts = docs[at], None if counts is None else counts[at]
        if counts is None:
            scores[docs] += factor / (1.0 + norm[docs])
        else:
            scores[docs] += factor * counts / (counts + norm[docs])
    if near is None:
        near = np.flatnonzero(scores >= least) if least else np.flatnonzero(scores)
    else:
        near = near[scores[near] >= least]
    if len(near) > k + MAX_TIES:
        cut = np.partition(scores[near], len(near) - k)[len(near) - k]
        near = near[scores[near] >= cut]
    return near, scores[near]


def _cut(found: list[tuple[int, float]], k: int) -> list[tuple[int, float]]:
    found.sort(key=lambda each: (-each[1], each[0]))
    if len(found) <= k:
        return found
    end = k
    while end < len(found) and end < k + MAX_TIES and found[end][1] == found[k - 1][1]:
        end += 1
    return found[:end]
