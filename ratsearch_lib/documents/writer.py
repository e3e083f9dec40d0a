"""What is written into a store: files, their chunks and the index of these, in batches that each leave it whole."""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections.abc import Sequence

import numpy as np

from ..text import folded_words
from .prepare import Batch, Piece
from .segments import FAN_OUT, FEW, Builder, bury, tidy
from .terms import term

BATCH_TOKENS, BATCH_CHUNKS, BATCH_S = 1_500_000, 50_000, 5.0


def recorded(path: str) -> str:
    """A path as it is recorded: bytes that are no UTF-8 as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def under(path: str) -> tuple[str, str, str]:
    """Parameters for "path = ? OR (path >= ? AND path < ?)": `path` and what is below it."""
    folder = path.rstrip("/" + os.sep) + os.sep
    return path, folder, folder[:-1] + chr(ord(os.sep) + 1)


class Writer:
    """Writes files into a store, in batches that each leave it whole."""

    def __init__(self, connection: sqlite3.Connection):
        self._db = connection
        self._builder = Builder()
        self._orphans: set[int] = set()
        self._begun = 0.0
        self._terms: Sequence[str] = ()
        self._numbers = np.zeros(0, np.uint32)
        self._mapped = -1  # for which of the builder's segments `_numbers` holds

    def begin(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._begun = time.monotonic()

    def pause(self) -> None:
        """Commit and begin again, if the batch has grown large."""
        batch = self._builder
        late = time.monotonic() - self._begun > BATCH_S
        if late or batch.n_tokens >= BATCH_TOKENS or len(batch) >= BATCH_CHUNKS or len(self._orphans) >= BATCH_CHUNKS:
            self.commit()
            self.begin()

    def write_texts(self, path: str, texts: Sequence[str], *, language: str, **columns) -> None:
        """As `write_file`, with texts that are chunks already; what is in memory is written, but not committed."""
        batch = Batch()
        pieces = batch.pieces(texts, language)
        self.terms(list(batch.terms))
        self.write_file(path, pieces, language=language, **columns)
        if self._builder.n_tokens >= BATCH_TOKENS or len(self._builder) >= BATCH_CHUNKS:
            self.flush()

    def flush(self, fan_out: int = FAN_OUT) -> None:
        """Bring the index up to the record, within the transaction."""
        self._builder.write(self._db)
        gone = [
            chunk
            for chunk in sorted(self._orphans)
            if self._db.execute("SELECT 1 FROM place WHERE chunk = ? LIMIT 1", (chunk,)).fetchone() is None
        ]
        if gone:
            self._db.executemany("DELETE FROM chunk WHERE id = ?", ((chunk,) for chunk in gone))
            bury(self._db, gone)
        self._orphans.clear()
        tidy(self._db, fan_out)

    def commit(self, fan_out: int = FAN_OUT) -> None:
        self.flush(fan_out)
        self._db.execute("COMMIT")

    def terms(self, terms: Sequence[str]) -> None:
        """What the numbers in the pieces that follow mean."""
        self._terms, self._mapped = terms, -1

    def write_file(self, path: str, pieces: Sequence[Piece], *, language: str, **columns) -> None:
        """Put a file in the record, in place of what is there of that path."""
        row = self._db.execute("SELECT id FROM file WHERE path = ?", (path,)).fetchone()
        if row:
            self.clear(row[0])
            self._db.execute(
                f"UPDATE file SET language = ?, {', '.join(f'{name} = ?' for name in columns)} WHERE id = ?",
                (language, *columns.values(), row[0]),
            )
            file = row[0]
        else:
            file = self._db.execute(
                f"INSERT INTO file(path, language, {', '.join(columns)}) VALUES (?, ?{', ?' * len(columns)})",
                (path, language, *columns.values()),
            ).lastrowid
        chunks = [(file, number, self._chunk(piece, language)) for number, piece in enumerate(pieces)]
        self._db.executemany("INSERT INTO place(file, number, chunk) VALUES (?, ?, ?)", chunks)

    def _chunk(self, piece: Piece, language: str) -> int:
        """The id of the chunk with this text, which is made if there is none."""
        key, words, data, terms = piece
        while (row := self._db.execute("SELECT id, text FROM chunk WHERE key = ?", (key,)).fetchone()) is not None:
            if row[1] == data or zlib.decompress(row[1]) == zlib.decompress(data):
                return row[0]
            key = key + 1 if key < (1 << 63) - 1 else -(1 << 63)  # another text of the same hash
        chunk = self._db.execute(
            "INSERT INTO chunk(key, words, language, text) VALUES (?, ?, ?, ?)", (key, words, language, data)
        ).lastrowid
        if self._mapped != self._builder.segments:
            self._numbers = self._builder.numbers(self._terms)
            self._mapped = self._builder.segments
        self._builder.add(chunk, self._numbers[np.frombuffer(terms, np.uintc)])
        return chunk

    def clear(self, file: int) -> int:
        """Take a file's chunks from it. Returns how many it had."""
        had = [row[0] for row in self._db.execute("SELECT chunk FROM place WHERE file = ?", (file,))]
        self._orphans.update(had)
        self._db.execute("DELETE FROM place WHERE file = ?", (file,))
        return len(had)

    def remove(self, file: int) -> int:
        n_chunks = self.clear(file)
        self._db.execute("DELETE FROM file WHERE id = ?", (file,))
        return n_chunks

    def remove_chunk(self, chunk: int) -> None:
        self._orphans.add(chunk)
        self._db.execute("DELETE FROM place WHERE chunk = ?", (chunk,))


def rebuild(connection: sqlite3.Connection) -> None:
    """The index anew from the record, by the analyzer of this version."""
    connection.execute("DELETE FROM posting")
    connection.execute("DELETE FROM segment")
    builder = Builder()
    for chunk, language, text in connection.execute("SELECT id, language, text FROM chunk ORDER BY id"):
        words = [term(word, language) for word in folded_words(zlib.decompress(text).decode("utf-8"))]
        builder.add(chunk, builder.numbers(words))
        if builder.n_tokens > BATCH_TOKENS or len(builder) >= BATCH_CHUNKS:
            builder.write(connection)
    builder.write(connection)
    tidy(connection, FEW)
