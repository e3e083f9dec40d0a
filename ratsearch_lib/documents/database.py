"""The SQLite file that a store is: its tables, how it is opened, and what its errors mean to a person."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import DocumentStoreError

APPLICATION_ID = 0x52415453  # "RATS", by which a store is known
VERSION = 1

# file   a file that was read. racy: it was so young that a later change might not show in its times.
#        skipped: why it has no chunks, so that it need not be read again to know that.
# chunk  a text, once, however many files hold it. key: its id as a signed number, from a hash of the text.
# place  which chunk stands where in which file
# segment, posting  the index: see segments.py
_TABLES = """
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE file(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER, mtime_ns INTEGER, ctime_ns INTEGER,
    racy INTEGER NOT NULL DEFAULT 0, hash BLOB, language TEXT NOT NULL DEFAULT '', encoding TEXT,
    chunk_size INTEGER, skipped TEXT);
CREATE INDEX file_hash ON file(hash);
CREATE TABLE chunk(id INTEGER PRIMARY KEY AUTOINCREMENT, key INTEGER NOT NULL UNIQUE, words INTEGER NOT NULL,
    language TEXT NOT NULL DEFAULT '', text BLOB NOT NULL);
CREATE TABLE place(file INTEGER NOT NULL REFERENCES file(id), number INTEGER NOT NULL,
    chunk INTEGER NOT NULL REFERENCES chunk(id), PRIMARY KEY(file, number)) WITHOUT ROWID;
CREATE INDEX place_chunk ON place(chunk);
CREATE TABLE segment(id INTEGER PRIMARY KEY, n_docs INTEGER NOT NULL, n_live INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL, chunks BLOB NOT NULL, lengths BLOB NOT NULL);
CREATE TABLE posting(segment INTEGER NOT NULL, term TEXT NOT NULL, docs BLOB NOT NULL, counts BLOB,
    PRIMARY KEY(segment, term)) WITHOUT ROWID;
"""


def is_store(path: Path) -> bool:
    """Whether the file is an SQLite database."""
    with open(path, "rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def open_to_write(path: Path) -> sqlite3.Connection:
    """A connection to the store at `path`, made if there is none."""
    with explained(path):
        connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA page_size = 8192")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA cache_size = -32000")
            connection.execute("BEGIN IMMEDIATE")
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not tables:
                for statement in _TABLES.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
            elif application != APPLICATION_ID:
                raise DocumentStoreError(f"{path} is a database of something else: name another store with --db.")
            connection.execute("COMMIT")
            _check_version(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def open_to_read(path: Path) -> sqlite3.Connection | None:
    """A connection that cannot write; also where the store, or all its folder, may not be written.

    None while it is empty: whoever began to make it was stopped.
    """
    with explained(path):
        wal = path.with_name(path.name + "-wal")
        if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
            mode = "rw"  # then what SQLite puts beside it is removed at the end
        elif wal.exists() and wal.stat().st_size:
            mode = "ro"
        else:
            mode = "ro&immutable=1"  # no file can be made beside it, and nobody writes
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=30, isolation_level=None,
            check_same_thread=False,
        )  # fmt: skip
        try:
            connection.execute("PRAGMA query_only = 1")
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            if not application and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                connection.close()
                return None
            if application != APPLICATION_ID:
                raise DocumentStoreError(f"{path} is a database of something else: name another store with --db.")
            _check_version(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        raise DocumentStoreError(
            f"{path} was written by another version of ratsearch (format {version}, this one has {VERSION}): "
            "export it there and import it here, or index the documents again under another name."
        )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """What SQLite or the system says about the store, as a DocumentStoreError that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise DocumentStoreError(_explanation(path, str(error))) from error
    except OSError as error:
        raise DocumentStoreError(f"{path} cannot be opened: {error.strerror or error}.") from error


def _explanation(path: Path, said: str) -> str:
    if "full" in said:
        return f"The disk is full: {path} keeps what was finished before. Free some space and run the same again."
    if "readonly" in said or "read-only" in said:
        return f"{path} is read-only: make it writable, or name another store with --db."
    if "malformed" in said or "not a database" in said:
        return f"{path} is damaged ({said}): restore it from a copy, or delete it and index the documents again."
    if "unable to open" in said:
        return f"{path} cannot be opened: its folder is missing or may not be entered. Name another store with --db."
    if "locked" in said:
        return f"{path} is being written by another process: try again when that is done."
    if "disk I/O" in said:
        return (
            f"{path} cannot be written ({said}): the disk may be full or failing. "
            "What was finished before is kept; run the same again when there is space."
        )
    return f"{path} cannot be used ({said})."
