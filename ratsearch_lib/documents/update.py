"""A run of indexing: what is new, changed, moved or gone, and only that, is written, some whole files at a time."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from ..text import folded_words, guess_language
from .chunk import chunks, count_words
from .extract import MAX_BYTES, Extracted, NotText, extract
from .segments import FAN_OUT, FEW, Builder, bury, tidy
from .walk import Found, Skipped, read_file, walk

BATCH_TOKENS, BATCH_CHUNKS, BATCH_S = 1_500_000, 50_000, 5.0
RACY_NS = 2_000_000_000  # as coarse as the times of some file systems are
LANGUAGE_CHARS = 1500

Progress = Callable[[int, "int | None"], None]


@dataclass(slots=True)
class Counts:
    """What a run did, in files; `skipped` with reasons."""

    indexed: int = 0
    updated: int = 0
    unchanged: int = 0
    moved: int = 0
    removed: int = 0
    skipped: list[Skipped] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the record says of a file."""

    id: int
    size: int
    mtime_ns: int
    ctime_ns: int
    racy: int
    hash: bytes | None
    chunk_size: int
    skipped: str | None

    def is_as(self, status: os.stat_result, chunk_size: int) -> bool:
        times = (self.size, self.mtime_ns, self.ctime_ns) == (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return times and not self.racy and self.chunk_size == chunk_size


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

    def spill(self) -> None:
        """Write what is in memory, if it is much, without committing."""
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

    def write_file(self, path: str, texts: Sequence[str], *, language: str, **columns) -> None:
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
        for number, text in enumerate(texts):
            chunk = self._chunk(text, language)
            self._db.execute("INSERT INTO place(file, number, chunk) VALUES (?, ?, ?)", (file, number, chunk))

    def _chunk(self, text: str, language: str) -> int:
        """The id of the chunk with this text, which is made if there is none."""
        data = text.encode("utf-8", "replace")
        key = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big", signed=True)
        while (row := self._db.execute("SELECT id, text FROM chunk WHERE key = ?", (key,)).fetchone()) is not None:
            if zlib.decompress(row[1]) == data:
                return row[0]
            key = key + 1 if key < (1 << 63) - 1 else -(1 << 63)  # another text of the same hash
        chunk = self._db.execute(
            "INSERT INTO chunk(key, words, language, text) VALUES (?, ?, ?, ?)",
            (key, count_words(text), language, zlib.compress(data, 1)),
        ).lastrowid
        self._builder.add(chunk, folded_words(text), language)
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


class Update:
    """One run over some roots (absolute paths, links resolved). `own` are the store's own files."""

    def __init__(
        self, connection: sqlite3.Connection, chunk_size: int, own: frozenset[str], progress: Progress | None = None
    ):
        self._db = connection
        self._writer = Writer(connection)
        self._chunk_size = chunk_size
        self._own = own
        self._progress = progress or (lambda done, total: None)
        self.counts = Counts()

    def run(self, roots: Iterable[str]) -> Counts:
        todo: dict[str, Found] = {}
        present: set[str] = set()
        hidden: list[str] = []
        known: dict[str, _Known] = {}
        for root in roots:
            known.update(self._known(recorded(root)))
            for found in walk(root):
                name = recorded(found.path)
                if isinstance(found, Skipped):
                    self._skip(found)
                    if found.hides:
                        hidden.append(name)
                elif found.path not in self._own and name not in present:
                    present.add(name)
                    before = known.get(name)
                    if before is None or not before.is_as(found.status, self._chunk_size):
                        todo[name] = found
                    elif before.skipped is not None:
                        self._skip(Skipped(found.path, before.skipped))
                    else:
                        self.counts.unchanged += 1
        gone = {name: file for name, file in known.items() if name not in present and not _is_hidden(name, hidden)}
        self._writer.begin()
        for done, (name, found) in enumerate(todo.items()):
            self._progress(done, len(todo))
            self._take(name, found, known.get(name), gone)
            self._writer.pause()
        for file in gone.values():
            self.counts.removed += file.skipped is None
            self._writer.remove(file.id)
            self._writer.pause()
        if todo:
            self._progress(len(todo), len(todo))
        self._writer.commit(FEW)
        return self.counts

    def _known(self, root: str) -> dict[str, _Known]:
        rows = self._db.execute(
            "SELECT path, id, size, mtime_ns, ctime_ns, racy, hash, chunk_size, skipped FROM file "
            "WHERE path = ? OR (path >= ? AND path < ?)",
            under(root),
        )
        return {path: _Known(*columns) for path, *columns in rows}

    def _skip(self, skipped: Skipped) -> None:
        self.counts.skipped.append(Skipped(recorded(skipped.path), skipped.reason, skipped.hides))

    def _take(self, name: str, found: Found, before: _Known | None, gone: dict[str, _Known]) -> None:
        try:
            data, status = read_file(found.path, MAX_BYTES)
        except OSError as error:
            kept = "; what was read of it before is kept" if before and before.skipped is None else ""
            self._skip(Skipped(found.path, f"cannot be read ({error.strerror or error}){kept}", hides=True))
            return
        columns = {
            "size": status.st_size, "mtime_ns": status.st_mtime_ns, "ctime_ns": status.st_ctime_ns,
            "racy": time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < RACY_NS,
            "hash": hashlib.blake2b(data, digest_size=16).digest(), "chunk_size": self._chunk_size,
            "skipped": None,
        }  # fmt: skip
        if before and before.hash == columns["hash"] and before.chunk_size == self._chunk_size:
            self._touch(before.id, columns)
            if before.skipped is not None:
                self._skip(Skipped(found.path, before.skipped))
            else:
                self.counts.unchanged += 1
            return
        if before is None and self._moved(name, columns, gone):
            return
        try:
            if len(data) > MAX_BYTES:
                raise NotText(f"larger than {MAX_BYTES // 1_000_000} MB")
            file = extract(data, PurePath(name).name)
            texts = chunks(file.text, self._chunk_size, file.kind)
            if not texts:
                raise NotText("empty")
        except NotText as reason:
            self._skip(Skipped(found.path, str(reason)))
            self.counts.removed += before is not None and before.skipped is None
            self._writer.write_file(name, (), language="", **{**columns, "skipped": str(reason)})
            return
        language = _language(file)
        self._writer.write_file(name, texts, language=language, encoding=file.encoding, **columns)
        if before is None or before.skipped is not None:
            self.counts.indexed += 1
        else:
            self.counts.updated += 1

    def _touch(self, file: int, columns: dict) -> None:
        self._db.execute(
            "UPDATE file SET size = ?, mtime_ns = ?, ctime_ns = ?, racy = ? WHERE id = ?",
            (*(columns[name] for name in ("size", "mtime_ns", "ctime_ns", "racy")), file),
        )

    def _moved(self, name: str, columns: dict, gone: dict[str, _Known]) -> bool:
        """Whether a file with this content and ending is gone elsewhere: then it is this one, under another name."""
        rows = self._db.execute(
            "SELECT id, path FROM file WHERE hash = ? AND chunk_size = ? AND skipped IS NULL ORDER BY path",
            (columns["hash"], self._chunk_size),
        ).fetchall()
        for file, path in rows:
            if PurePath(path).suffix == PurePath(name).suffix and (path in gone or not os.path.lexists(path)):
                gone.pop(path, None)
                self._db.execute("UPDATE file SET path = ? WHERE id = ?", (name, file))
                self._touch(file, columns)
                self.counts.moved += 1
                return True
        return False


def _is_hidden(name: str, hidden: list[str]) -> bool:
    return any(name == path or name.startswith(path.rstrip(os.sep) + os.sep) for path in hidden)


def _language(file: Extracted) -> str:
    """The code of a language other than English, "" for that and for what is unknown."""
    found = guess_language(file.text[:LANGUAGE_CHARS]) if file.kind == "prose" else None
    return "" if found in (None, "en") else found
