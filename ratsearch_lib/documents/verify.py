"""Whether a store is whole: the database, the record in itself, and the index against the record."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections import Counter

import numpy as np

from ..text import folded_words
from .segments import counts_of, load
from .terms import term

MAX_FAULTS = 20


def faults(connection: sqlite3.Connection) -> list[str]:
    """What is wrong, in words; at most 20 of a kind."""
    found = [f"database: {line}" for (line,) in connection.execute("PRAGMA integrity_check(20)") if line != "ok"]
    if found:
        return found
    for what, query in (
        ("a file has a chunk that is missing", "SELECT file FROM place WHERE chunk NOT IN (SELECT id FROM chunk)"),
        ("a chunk is of no file", "SELECT id FROM chunk WHERE id NOT IN (SELECT chunk FROM place)"),
        ("a place is of no file", "SELECT file FROM place WHERE file NOT IN (SELECT id FROM file)"),
        ("a skipped file has chunks", "SELECT file FROM place JOIN file ON file.id = file WHERE skipped IS NOT NULL"),
    ):
        found += [f"{what} ({number})" for (number,) in connection.execute(f"{query} LIMIT {MAX_FAULTS}")]
    return found + _index_faults(connection)


def _index_faults(connection: sqlite3.Connection) -> list[str]:
    """Each chunk's words, counted anew, against the postings of the segment that holds it."""
    found: list[str] = []
    seen: Counter[int] = Counter()
    for segment in load(connection):
        held: list[list[tuple[str, int]]] = [[] for _ in segment.chunks]
        rows = connection.execute("SELECT term, docs, counts FROM posting WHERE segment = ?", (segment.id,))
        for name, blob, counts in rows:
            docs = np.frombuffer(blob, "<u2")
            times = counts_of(docs, counts)
            for doc, n in zip(docs.tolist(), [1] * len(docs) if times is None else times.tolist(), strict=True):
                held[doc].append((name, n))
        alive = np.flatnonzero(segment.lengths >= 0).tolist()
        if len(alive) != segment.n_live or int(segment.lengths[alive].sum()) != segment.n_tokens:
            found.append(f"segment {segment.id} counts its chunks wrong")
        for doc in alive:
            chunk = int(segment.chunks[doc])
            seen[chunk] += 1
            row = connection.execute("SELECT text, language FROM chunk WHERE id = ?", (chunk,)).fetchone()
            try:
                words = row and folded_words(zlib.decompress(row[0]).decode("utf-8"))
            except (zlib.error, UnicodeDecodeError):
                found.append(f"the text of chunk {chunk} is damaged")
                continue
            if words is None:
                found.append(f"the index has a chunk {chunk}, the record has none")
            elif dict(held[doc]) != Counter(term(word, row[1]) for word in words):
                found.append(f"the index of chunk {chunk} is not of its text")
        if len(found) > MAX_FAULTS:
            return found
    for (chunk,) in connection.execute("SELECT id FROM chunk"):
        if seen[chunk] != 1:
            found.append(f"chunk {chunk} is in the index {seen[chunk]} times")
    return found[: 2 * MAX_FAULTS] + _key_faults(connection)


def _key_faults(connection: sqlite3.Connection) -> list[str]:
    """Ids that are not of their text (but the next one is taken by another text of the same hash)."""
    found = []
    for chunk, key, text in connection.execute("SELECT id, key, text FROM chunk"):
        data = zlib.decompress(text)
        right = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big", signed=True)
        if not 0 <= key - right < 1000:
            found.append(f"the id of chunk {chunk} is not of its text")
    return found[:MAX_FAULTS]
