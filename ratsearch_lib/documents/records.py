"""What a store tells, and how its rows become that."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from .walk import Skipped


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What indexing did, in files, and how many chunks the store holds now."""

    indexed: int
    updated: int
    unchanged: int
    moved: int
    removed: int
    skipped: tuple[Skipped, ...]
    total_chunks: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A chunk that was found. score: BM25, higher is better; snippet: what of it holds the query's words."""

    id: str
    path: str
    title: str
    chunk: int
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk: the `chunk`th of the file `path`. also_in: other places of the same text, as "PATH#NUMBER"."""

    id: str
    path: str
    title: str
    chunk: int
    words: int
    text: str = ""
    also_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats:
    """total_chunks counts equal ones once; avg_chunk_len is in tokens, chunk_size in words."""

    total_chunks: int
    unique_files: int
    unique_terms: int
    avg_chunk_len: float
    chunk_size: int


def chunk(connection: sqlite3.Connection, id: str) -> Chunk | None:
    """The chunk with this id, its text and all its places."""
    row = connection.execute("SELECT id, key, words, text FROM chunk WHERE key = ?", (key_of_id(id),)).fetchone()
    if row is None:
        return None
    places = connection.execute(
        "SELECT path, number FROM place JOIN file ON file.id = file WHERE chunk = ? ORDER BY path, number", (row[0],)
    ).fetchall()
    return _made(row[1], row[2], text_of(row[3]), places)


def all_chunks(connection: sqlite3.Connection) -> list[Chunk]:
    """Every chunk, without its text, by the first of its places."""
    rows = connection.execute(
        "SELECT chunk.id, key, words, path, number FROM file JOIN place ON file = file.id "
        "JOIN chunk ON chunk.id = chunk ORDER BY path, number"
    )
    found: dict[int, tuple[int, int, list[tuple[str, int]]]] = {}
    for number, key, words, *place in rows:
        found.setdefault(number, (key, words, []))[2].append(tuple(place))
    return [_made(key, words, "", places) for key, words, places in found.values()]


def chunks_of(connection: sqlite3.Connection, path: str, first: int, last: int | None) -> list[Chunk]:
    """The chunks of a file from number `first` to `last`, with their texts."""
    rows = connection.execute(
        "SELECT key, words, text, number FROM file JOIN place ON file = file.id JOIN chunk ON chunk.id = chunk "
        "WHERE path = ? AND number BETWEEN ? AND ? ORDER BY number",
        (path, first, 1 << 60 if last is None else last),
    )
    return [_made(key, words, text_of(text), [(path, number)]) for key, words, text, number in rows]


def dumped(connection: sqlite3.Connection) -> Iterator[dict]:
    """Every file with its chunks, as JSON has them."""
    names = ("path", "language", "encoding", "chunk_size", "size", "mtime_ns")
    files = connection.execute(f"SELECT id, {', '.join(names)} FROM file WHERE skipped IS NULL ORDER BY path")
    for file, *columns in files:
        rows = connection.execute(
            "SELECT key, words, text FROM place JOIN chunk ON chunk.id = chunk WHERE file = ? ORDER BY number", (file,)
        )
        chunks = [{"id": id_of(key), "words": words, "text": text_of(text)} for key, words, text in rows]
        yield {**dict(zip(names, columns, strict=True)), "chunks": chunks}


def _made(key: int, words: int, text: str, places: list[tuple[str, int]]) -> Chunk:
    path, number = places[0]
    also = tuple(f"{other}#{where}" for other, where in places[1:])
    return Chunk(id_of(key), path, PurePath(path).name, number, words, text, also)


def text_of(data: bytes) -> str:
    return zlib.decompress(data).decode("utf-8")


def id_of(key: int) -> str:
    return f"{key & 0xFFFFFFFFFFFFFFFF:016x}"


def key_of_id(id: str) -> int | None:
    if len(id) != 16 or not all(char in "0123456789abcdef" for char in id.lower()):
        return None
    number = int(id, 16)
    return number - (1 << 64) if number >= 1 << 63 else number
