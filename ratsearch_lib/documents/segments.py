"""The inverted index, as segments in the store's own database: what is found commits and rolls back with the record.

A segment holds up to 65,536 documents (here: chunks), numbered from 0, and never changes, but for documents that die:
`lengths` has -1 for them. For each term, `docs` are the numbers of the documents that hold it (16 bits each), `counts`
how often (8 or 16 bits each; NULL: once everywhere). Small segments are merged as they grow many, so that a search
looks into few, and an update writes little (the log-structured merge of O'Neil et al., 1996).
"""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np

MAX_DOCS = 65_536
FAN_OUT, FEW = 8, 3  # so many neighbouring small segments become one: during a run, and at its end
SMALL = 64
_ONES = np.ones(MAX_DOCS, "u1")


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment's documents. chunks: their ids, ascending; lengths: in tokens, -1 for the dead."""

    id: int
    n_live: int
    n_tokens: int
    chunks: np.ndarray
    lengths: np.ndarray

    @property
    def has_dead(self) -> bool:
        return self.n_live < len(self.chunks)


def load(connection: sqlite3.Connection) -> list[Segment]:
    """All segments, in the order of their chunks."""
    rows = connection.execute("SELECT id, n_live, n_tokens, chunks, lengths FROM segment")
    found = [
        Segment(id, n_live, n_tokens, np.frombuffer(chunks, "<i8"), np.frombuffer(lengths, "<i4"))
        for id, n_live, n_tokens, chunks, lengths in rows
    ]
    return sorted(found, key=lambda segment: segment.chunks[0])


class Builder:
    """Collects documents in memory until they are written as one segment. `segments` counts those."""

    def __init__(self):
        self.segments = 0
        self._clear()

    def _clear(self) -> None:
        self._terms: dict[str, int] = {}
        self._chunks: list[int] = []
        self._tokens: list[np.ndarray] = []
        self.n_tokens = 0

    def __len__(self) -> int:
        return len(self._chunks)

    def numbers(self, terms: Iterable[str]) -> np.ndarray:
        """The numbers by which `add` knows these terms, in the segment that is being collected."""
        known = self._terms
        return np.array([known.setdefault(term, len(known)) for term in terms], np.uint32)

    def add(self, chunk: int, tokens: np.ndarray) -> None:
        """A chunk as the numbers of its terms. Chunks come in the order of their ids."""
        self._chunks.append(chunk)
        self._tokens.append(tokens)
        self.n_tokens += len(tokens)

    def write(self, connection: sqlite3.Connection) -> None:
        """Write what was collected as a segment, and forget it."""
        if not self._chunks:
            return
        lengths = np.fromiter(map(len, self._tokens), "<i4", len(self._tokens))
        docs = np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
        terms = np.concatenate(self._tokens).astype(np.uint64)
        pairs, counts = np.unique(terms << np.uint64(16) | docs, return_counts=True)
        names = list(self._terms)
        _write(connection, names, pairs >> np.uint64(16), pairs & np.uint64(0xFFFF), counts,
               np.array(self._chunks, "<i8"), lengths)  # fmt: skip
        self.segments += 1
        self._clear()


def _write(
    connection: sqlite3.Connection, names: list[str], terms: np.ndarray, docs: np.ndarray, counts: np.ndarray,
    chunks: np.ndarray, lengths: np.ndarray,
) -> None:  # fmt: skip
    """A segment of the postings (term's number, document, count), which are sorted by the first two."""
    segment = _add(connection, chunks, lengths)
    if not len(terms):
        return
    starts = np.flatnonzero(np.concatenate(([True], terms[1:] != terms[:-1])))
    ends = np.append(starts[1:], len(terms))
    most = np.maximum.reduceat(counts, starts).tolist()
    docs_bytes = docs.astype("<u2").tobytes()
    narrow, wide = np.minimum(counts, 255).astype("u1").tobytes(), counts.astype("<u2").tobytes()

    def row(place: int) -> tuple:
        start, end, top = starts_list[place], ends_list[place], most[place]
        times = None if top == 1 else narrow[start:end] if top < 256 else wide[2 * start : 2 * end]
        return segment, names[numbers[place]], docs_bytes[2 * start : 2 * end], times

    numbers, starts_list, ends_list = terms[starts].tolist(), starts.tolist(), ends.tolist()
    order = sorted(range(len(numbers)), key=lambda place: names[numbers[place]])
    connection.executemany("INSERT INTO posting VALUES (?, ?, ?, ?)", map(row, order))


def _add(connection: sqlite3.Connection, chunks: np.ndarray, lengths: np.ndarray) -> int:
    """A new segment of these documents, without postings. Returns its id."""
    return connection.execute(
        "INSERT INTO segment(n_docs, n_live, n_tokens, chunks, lengths) VALUES (?, ?, ?, ?, ?)",
        (len(chunks), len(chunks), int(lengths.sum()), chunks.tobytes(), lengths.tobytes()),
    ).lastrowid


def counts_of(docs: np.ndarray, blob: bytes | None) -> np.ndarray | None:
    """How often each of the documents holds the term; None: once each."""
    if blob is None:
        return None
    return np.frombuffer(blob, "u1" if len(blob) == len(docs) else "<u2")


def bury(connection: sqlite3.Connection, chunks: list[int]) -> None:
    """Mark chunks as dead. They must be in some segment."""
    gone = np.array(sorted(chunks), "<i8")
    for segment in load(connection):
        at = np.searchsorted(segment.chunks, gone)
        at = at[(at < len(segment.chunks)) & (segment.chunks[np.minimum(at, len(segment.chunks) - 1)] == gone)]
        at = at[segment.lengths[at] >= 0]
        if not len(at):
            continue
        n_live = segment.n_live - len(at)
        if not n_live:
            connection.execute("DELETE FROM posting WHERE segment = ?", (segment.id,))
            connection.execute("DELETE FROM segment WHERE id = ?", (segment.id,))
            continue
        n_tokens = segment.n_tokens - int(segment.lengths[at].sum())
        lengths = segment.lengths.copy()
        lengths[at] = -1
        connection.execute("UPDATE segment SET n_live = ?, n_tokens = ?, lengths = ? WHERE id = ?",
                           (n_live, n_tokens, lengths.tobytes(), segment.id))  # fmt: skip


def tidy(connection: sqlite3.Connection, fan_out: int = FAN_OUT) -> None:
    """Merge the newest segments while there are many small ones; rewrite a large one that is mostly dead."""
    while True:
        tail: list[Segment] = []
        total = 0
        segments = load(connection)
        for segment in reversed(segments):
            if tail and (total + segment.n_live > MAX_DOCS or segment.n_live > max(total, SMALL) * 2):
                break
            tail.insert(0, segment)
            total += segment.n_live
        if len(tail) < fan_out:
            break
        merge(connection, tail)
    for segment in segments:
        if segment.n_live * 2 < len(segment.chunks) and len(segment.chunks) > SMALL:
            merge(connection, [segment])


def merge(connection: sqlite3.Connection, segments: list[Segment]) -> None:
    """Neighbouring segments as one, without the dead; a term at a time, so that it takes little memory."""
    alive = [segment.lengths >= 0 for segment in segments]
    chunks = np.concatenate([segment.chunks[kept] for segment, kept in zip(segments, alive, strict=True)])
    lengths = np.concatenate([segment.lengths[kept] for segment, kept in zip(segments, alive, strict=True)])
    moved, offset = [], 0
    for segment, kept in zip(segments, alive, strict=True):
        moved.append((np.cumsum(kept) - 1 + offset).astype("<u2"))
        offset += segment.n_live

    def rows_of(place: int) -> Iterator[tuple]:
        query = "SELECT term, docs, counts FROM posting WHERE segment = ? ORDER BY term"
        return ((term, place, docs, counts) for term, docs, counts in connection.execute(query, (segments[place].id,)))

    def rows() -> Iterator[tuple]:
        for term, group in groupby(heapq.merge(*map(rows_of, range(len(segments)))), key=itemgetter(0)):
            docs, counts = [], []
            for _, place, blob, times in group:
                here = np.frombuffer(blob, "<u2")
                often = counts_of(here, times)
                if segments[place].has_dead:
                    kept = alive[place][here]
                    here, often = here[kept], None if often is None else often[kept]
                docs.append(moved[place][here])
                counts.append(_ONES[: len(here)] if often is None else often)
            if any(map(len, docs)):
                often = counts[0] if len(counts) == 1 else np.concatenate(counts)
                yield new, term, b"".join(map(bytes, docs)), None if often.max() == 1 else often.tobytes()

    new = _add(connection, chunks, lengths)
    connection.executemany("INSERT INTO posting VALUES (?, ?, ?, ?)", rows())
    for segment in segments:
        connection.execute("DELETE FROM posting WHERE segment = ?", (segment.id,))
        connection.execute("DELETE FROM segment WHERE id = ?", (segment.id,))
