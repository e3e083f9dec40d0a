"""A run of indexing: what is new, changed, moved or gone, and only that, is written, some whole files at a time."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import PurePath

from .extract import MAX_BYTES
from .prepare import Prepared
from .segments import FEW
from .walk import Found, Skipped, read_file, walk
from .workers import Files, how_many, prepared
from .writer import Writer, recorded, under

RACY_NS = 2_000_000_000  # as coarse as the times of some file systems are
BATCH_BYTES, BATCH_FILES = 2_000_000, 200  # of files that are prepared together

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


@dataclass(frozen=True, slots=True)
class _Note:
    """A file that is to be written: as what, what was recorded of it before, what will be."""

    name: str
    before: _Known | None
    columns: dict


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
        n_bytes = sum(found.status.st_size for found in todo.values())
        batches = self._batches(todo, known, gone)
        with closing(prepared(batches, self._chunk_size, how_many(n_bytes))) as results:
            for notes, (terms, files) in results:
                self._writer.terms(terms)
                for note, file in zip(notes, files, strict=True):
                    self._write(note, file)
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

    def _batches(
        self, todo: dict[str, Found], known: dict[str, _Known], gone: dict[str, _Known]
    ) -> Iterator[tuple[list[_Note], Files]]:
        """What of `todo` is new or has changed, read, some files at a time; what turns out not to be is settled."""
        notes: list[_Note] = []
        files: Files = []
        n_bytes = 0
        for done, (name, found) in enumerate(todo.items()):
            self._progress(done, len(todo))
            before = known.get(name)
            read = self._read(name, found, before, gone)
            if read is None:
                continue
            data, columns = read
            notes.append(_Note(name, before, columns))
            files.append((PurePath(name).name, data))
            n_bytes += len(data)
            if n_bytes >= BATCH_BYTES or len(files) >= BATCH_FILES:
                yield notes, files
                notes, files, n_bytes = [], [], 0
        if files:
            yield notes, files

    def _read(
        self, name: str, found: Found, before: _Known | None, gone: dict[str, _Known]
    ) -> tuple[bytes, dict] | None:
        """A file's content and what to record of it; None if there is nothing to do about it."""
        try:
            data, status = read_file(found.path, MAX_BYTES)
        except OSError as error:
            kept = "; what was read of it before is kept" if before and before.skipped is None else ""
            self._skip(Skipped(found.path, f"cannot be read ({error.strerror or error}){kept}", hides=True))
            return None
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
            return None
        if before is None and self._moved(name, columns, gone):
            return None
        return data, columns

    def _write(self, note: _Note, file: Prepared) -> None:
        reason, language, encoding, pieces = file
        had_chunks = note.before is not None and note.before.skipped is None
        if reason:
            self._skip(Skipped(note.name, reason))
            self.counts.removed += had_chunks
        elif had_chunks:
            self.counts.updated += 1
        else:
            self.counts.indexed += 1
        columns = {**note.columns, "encoding": encoding or None, "skipped": reason or None}
        self._writer.write_file(note.name, pieces, language=language, **columns)

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
