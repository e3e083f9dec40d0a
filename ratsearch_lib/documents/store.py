"""The store: an SQLite file with the chunks of documents and an index of their words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from threading import RLock

from ..errors import DocumentNotFound, DocumentStoreError
from . import database, records
from .chunk import CHUNK_WORDS, MAX_CHUNK_WORDS
from .lock import writing
from .records import Chunk, IndexReport, SearchResult, Stats, id_of, key_of_id, text_of
from .segments import FEW
from .terms import INDEX_VERSION
from .update import Progress, Update
from .writer import Writer, rebuild, recorded, under

WAIT_S = 10.0  # for another writer
_SUFFIXES = ("", "-wal", "-shm", "-journal", ".lock")


class DocumentStore:
    """The store at `path`, which need not exist until something is indexed. Safe for several threads.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "rat.txt").write_text("Rats sleep by day.")
    >>> store = DocumentStore(folder / "rag.db")
    >>> store.index(folder).indexed
    1
    >>> [(result.title, result.snippet) for result in store.search("sleeping rats")]
    [('rat.txt', 'Rats sleep by day.')]
    """

    def __init__(self, path: str | Path, wait_s: float = WAIT_S):
        self.path = Path(path)
        self._wait_s = wait_s
        self._lock = RLock()
        self._reader: sqlite3.Connection | None = None
        self._state: tuple[int, object] | None = None  # of the database, and the index as it is in that
        if self.path.is_dir():
            raise DocumentStoreError(f"{self.path} is a folder: name a file for the store.")

    def index(self, *paths: str | Path, chunk_size: int | None = None, progress: Progress | None = None) -> IndexReport:
        """Bring the store up to the files and folders `paths`.

        chunk_size  in words; None: as before, at first 300. Files that were cut otherwise are cut again.
        progress    called with (files done, files to read)

        Links are not followed; `.ragignore` files hold from each path down. DocumentStoreError if a path does not
        exist (then nothing is done), or the store cannot be written.
        """
        if chunk_size is not None and not 1 <= chunk_size <= MAX_CHUNK_WORDS:
            raise DocumentStoreError(f"A chunk size is a number of words from 1 to {MAX_CHUNK_WORDS:,}.")
        if not paths:
            raise DocumentStoreError("There is nothing to index: name files or folders.")
        roots = [_resolved(path) for path in paths]
        with self._writing() as connection:
            size = chunk_size or self._meta(connection, "chunk_size") or CHUNK_WORDS
            own = frozenset(os.path.realpath(self.path) + suffix for suffix in _SUFFIXES)
            with _transaction(connection):
                self._set_meta(connection, "chunk_size", size)
                known = set((self._meta(connection, "roots") or "").split("\0")) - {""}
                folders = {recorded(root if os.path.isdir(root) else os.path.dirname(root)) for root in roots}
                self._set_meta(connection, "roots", "\0".join(sorted(known | folders)))
            counts = Update(connection, size, own, progress).run(roots)
            (total,) = connection.execute("SELECT count(*) FROM chunk").fetchone()
        return IndexReport(
            counts.indexed, counts.updated, counts.unchanged, counts.moved, counts.removed, tuple(counts.skipped), total
        )

    def take_in(
        self, files: Iterable[tuple[str, Sequence[str], dict]], *, chunk_size: int | None = None, origin: str = ""
    ) -> tuple[int, int]:
        """Record files as they were cut elsewhere, each (path, texts of its chunks, columns); all or none of them.

        Returns how many files and chunks.
        """
        n_files = n_chunks = 0
        with self._writing() as connection:
            writer = Writer(connection)
            writer.begin()
            for path, texts, columns in files:
                writer.write_texts(path, texts, **columns)
                n_files += 1
                n_chunks += len(texts)
            if chunk_size:
                self._set_meta(connection, "chunk_size", chunk_size)
            if origin:
                self._set_meta(connection, "origin", origin)
            writer.commit(FEW)
        return n_files, n_chunks

    def delete(self, id_or_path: str) -> int:
        """Forget a chunk, a file, or all files below a folder. Returns how many chunks; DocumentNotFound if none."""
        if not self.path.exists():
            raise DocumentNotFound(f"There is no {id_or_path} in the store: it is empty.")
        with self._writing() as connection:
            writer = Writer(connection)
            writer.begin()
            deleted = 0
            row = connection.execute("SELECT id FROM chunk WHERE key = ?", (key_of_id(id_or_path),)).fetchone()
            if row:
                writer.remove_chunk(row[0])
                deleted = 1
            elif id_or_path.strip():  # an empty one is a variable that is not set, not the current folder
                for path in dict.fromkeys((os.path.realpath(id_or_path), os.path.abspath(id_or_path))):
                    query = "SELECT id FROM file WHERE path = ? OR (path >= ? AND path < ?)"
                    for (file,) in connection.execute(query, under(recorded(path))).fetchall():
                        deleted += writer.remove(file)
            if not deleted:
                raise DocumentNotFound(
                    f"There is no chunk and no file {id_or_path!r} in the store: `list` shows what there is."
                )
            writer.commit(FEW)
        return deleted

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        if not self.path.parent.is_dir():
            raise DocumentStoreError(f"There is no folder {self.path.parent} to keep the store in.")
        with writing(self.path, self._wait_s), database.explained(self.path):
            connection = database.open_to_write(self.path)
            try:
                if self._meta(connection, "analyzer") != INDEX_VERSION:
                    with _transaction(connection):
                        rebuild(connection)
                        self._set_meta(connection, "analyzer", INDEX_VERSION)
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                connection.close()

    @staticmethod
    def _meta(connection: sqlite3.Connection, name: str):
        row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row and row[0]

    @staticmethod
    def _set_meta(connection: sqlite3.Connection, name: str, value) -> None:
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection that sees one state of the store; None while there is no store."""
        with self._lock, database.explained(self.path):
            if self._reader is None:
                self._reader = database.open_to_read(self.path) if self.path.exists() else None
                if self._reader is None:
                    yield None
                    return
            self._reader.execute("BEGIN")
            try:
                yield self._reader
            finally:
                self._reader.execute("ROLLBACK")

    def _index(self, connection: sqlite3.Connection):
        from .search import Index

        connection.execute("SELECT 1 FROM meta LIMIT 1").fetchone()  # now the state is fixed
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if self._state is None or self._state[0] != version:
            if self._meta(connection, "analyzer") != INDEX_VERSION:
                raise DocumentStoreError(
                    f"{self.path} was indexed by another version of ratsearch: index anything into it, which brings it "
                    "up to date."
                )
            languages = connection.execute(
                "SELECT language FROM file WHERE skipped IS NULL GROUP BY language ORDER BY count(*) DESC, language"
            ).fetchall()
            self._state = version, (Index(connection), [language for (language,) in languages])
        return self._state[1]

    def search(self, query: str, k: int = 5) -> list[SearchResult]:
        """The `k` chunks that answer `query` best, best first; of equal texts one, of equal scores by path."""
        from .search import parse
        from .snippet import snippet

        if k < 1:
            raise DocumentStoreError("A search is for at least 1 result.")
        with self._reading() as connection:
            if connection is None:
                return []
            index, languages = self._index(connection)
            parsed = parse(query, languages)
            found = []
            for chunk, score in index.search(parsed, k):
                path, number = connection.execute(
                    "SELECT path, number FROM place JOIN file ON file.id = file WHERE chunk = ? ORDER BY path, number",
                    (chunk,),
                ).fetchone()
                found.append((-score, path, number, chunk))
            results = []
            for score, path, number, chunk in sorted(found)[:k]:
                key, language, text = connection.execute(
                    "SELECT key, language, text FROM chunk WHERE id = ?", (chunk,)
                ).fetchone()
                shown = snippet(text_of(text), parsed.terms, language)
                results.append(SearchResult(id_of(key), path, PurePath(path).name, number, -score, shown))
        return results

    def get(self, id: str) -> Chunk:
        """The chunk with this id, its whole text. DocumentNotFound if there is none."""
        with self._reading() as connection:
            found = connection and records.chunk(connection, id)
        if not found:
            raise DocumentNotFound(f"There is no chunk {id!r} in the store: a search tells the ids.")
        return found

    def list(self) -> list[Chunk]:
        """Every chunk, without its text, by path and number."""
        with self._reading() as connection:
            return records.all_chunks(connection) if connection else []

    def stats(self) -> Stats:
        """How much the store holds."""
        with self._reading() as connection:
            if connection is None:
                return Stats(0, 0, 0, 0.0, CHUNK_WORDS)
            index, _ = self._index(connection)
            (files,) = connection.execute("SELECT count(*) FROM file WHERE skipped IS NULL").fetchone()
            size = self._meta(connection, "chunk_size") or CHUNK_WORDS
            return Stats(index.n_docs, files, index.count_terms(), index.average, size)

    def roots(self) -> list[str]:
        """The folders that were indexed, the longest first."""
        with self._reading() as connection:
            roots = (connection and self._meta(connection, "roots")) or ""
        return sorted((root for root in roots.split("\0") if root), key=len, reverse=True)

    def holds(self, path: str) -> bool:
        """Whether the file with this path has chunks."""
        query = "SELECT 1 FROM file WHERE path = ? AND skipped IS NULL"
        with self._reading() as connection:
            return bool(connection and connection.execute(query, (path,)).fetchone())

    def files(self) -> list[str]:
        """The paths of all files that have chunks."""
        with self._reading() as connection:
            rows = connection.execute("SELECT path FROM file WHERE skipped IS NULL ORDER BY path") if connection else ()
            return [path for (path,) in rows]

    def read(self, path: str, first: int = 0, last: int | None = None) -> list[Chunk]:
        """The chunks of a file from number `first` to `last`, with their texts."""
        with self._reading() as connection:
            return records.chunks_of(connection, path, first, last) if connection else []

    def dump(self) -> Iterator[dict]:
        """Every file as `transfer.export` writes it."""
        with self._reading() as connection:
            if connection is not None:
                yield from records.dumped(connection)

    def origin(self) -> str | None:
        """The ragstore index from which the store was made, if it was."""
        with self._reading() as connection:
            return connection and self._meta(connection, "origin")

    def verify(self) -> list[str]:
        """What is wrong with the store, in words: nothing, if it is whole."""
        from .verify import faults

        with self._reading() as connection:
            return faults(connection) if connection else []

    def close(self) -> None:
        with self._lock:
            if self._reader is not None:
                self._reader.close()
                self._reader = self._state = None

    def __enter__(self) -> DocumentStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.execute("COMMIT")


def _resolved(path: str | Path) -> str:
    if not str(path).strip():  # a variable that is not set: not the current folder
        raise DocumentStoreError("A path is empty. Nothing was done.")
    try:
        return os.path.realpath(os.path.expanduser(path), strict=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentStoreError(f"{path} cannot be indexed: {reason}. Nothing was done.") from error
