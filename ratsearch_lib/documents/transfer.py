"""Stores out of and into other files: JSON Lines, a file of the store on each, and the indexes of ragstore.

A line is {"path", "language", "encoding", "chunk_size", "size", "mtime_ns", "chunks": [{"id", "words", "text"}, …]}.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..errors import DocumentStoreError
from .chunk import CHUNK_WORDS
from .database import explained, is_store
from .prepare import LANGUAGE_CHARS, language_of
from .store import DocumentStore
from .writer import recorded

_COLUMNS = ("language", "encoding", "chunk_size", "size", "mtime_ns")


def export(store: DocumentStore, path: Path) -> tuple[int, int]:
    """Write all of `store` to `path`, whole or not at all. Returns how many files and chunks."""
    files = chunks = 0
    with explained(path):
        if path.exists() and not path.is_file():  # what is no file, such as /dev/null, must not become one
            raise DocumentStoreError(f"{path} is no ordinary file: name another.")
        if path.exists() and is_store(path):
            raise DocumentStoreError(f"{path} is a store, which the export would destroy: name another file.")
        target = Path(os.path.realpath(path))  # a link stays one
        handle, unfinished = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with open(handle, "w", encoding="utf-8", newline="\n") as out:
                for line in store.dump():
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
                    files += 1
                    chunks += len(line["chunks"])
                out.flush()
                os.fsync(out.fileno())
            os.chmod(unfinished, 0o666 & ~_umask())
            os.replace(unfinished, target)
        except BaseException:
            os.unlink(unfinished)
            raise
    return files, chunks


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def import_lines(store: DocumentStore, lines: Iterator[str], name: str) -> tuple[int, int]:
    """Take in what `export` wrote, each file in place of one of the same path; all of it, or nothing.

    Returns how many files and chunks. DocumentStoreError names the line that is wrong.
    """

    def files() -> Iterator[tuple[str, list[str], dict]]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
                path = value["path"]
                texts = [chunk["text"] for chunk in value["chunks"]]
                columns = {column: value.get(column) for column in _COLUMNS}
                columns["language"] = columns["language"] or ""
                good = isinstance(path, str) and path and all(isinstance(text, str) for text in texts)
                good = good and all(isinstance(columns[each], (str, type(None))) for each in _COLUMNS[:2])
                good = good and all(
                    columns[each] is None or (isinstance(columns[each], int) and abs(columns[each]) < 1 << 63)
                    for each in _COLUMNS[2:]
                )
                for each in (path, columns["language"], columns["encoding"] or "") if good else ():
                    each.encode()  # as the store does: halves of surrogate pairs are a ValueError
                if not good:
                    raise TypeError("a value is of the wrong kind")
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise DocumentStoreError(
                    f"Line {number} of {name} is not of an exported store ({type(error).__name__}: {error}). "
                    "Nothing was imported."
                ) from error
            yield path, texts, columns

    return store.take_in(files())


def is_ragstore(path: Path) -> bool:
    """Whether there is a file at `path` that may be an index of ragstore's: no database, but JSON."""
    with explained(path):
        if not path.is_file() or path.stat().st_size == 0 or is_store(path):
            return False
        with open(path, "rb") as file:
            return file.read(100).lstrip()[:1] == b"{"


def convert_ragstore(path: Path) -> tuple[Path, int | None]:
    """The store beside a ragstore index with all that is in it, and how many chunks that were; None if it was there."""
    target = path.with_suffix("") if path.suffix == ".json" else path.with_name(path.name + ".db")
    origin = os.path.realpath(path)
    if target.exists():
        with DocumentStore(target) as store:
            is_its_own = store.origin() == origin
        if not is_its_own:
            raise DocumentStoreError(
                f"{path} is an index of ragstore's, and {target}, where it would be converted to, is something else: "
                "name a store with --db, or move one of the two."
            )
        return target, None
    files, chunk_size = _read_ragstore(path)
    unfinished = DocumentStore(target.with_name(f"{target.name}.{os.getpid()}.unfinished"))
    try:
        _, n_chunks = unfinished.take_in(iter(files), chunk_size=chunk_size, origin=origin)
        with explained(target):
            os.link(unfinished.path, target)  # fails where somebody else was sooner
    finally:
        unfinished.close()
        for suffix in ("", "-wal", "-shm", ".lock"):
            unfinished.path.with_name(unfinished.path.name + suffix).unlink(missing_ok=True)
    return target, n_chunks


def _read_ragstore(path: Path) -> tuple[list[tuple[str, list[str], dict]], int]:
    """The files of the index, their chunks in order."""
    with explained(path):
        data = path.read_bytes()
    try:
        index = json.loads(data)
        documents = index["documents"] or []
        chunk_size = index.get("chunk_size")
        chunk_size = chunk_size if isinstance(chunk_size, int) and chunk_size > 0 else CHUNK_WORDS
        files: dict[str, list[tuple[int, str]]] = {}
        for document in documents:
            files.setdefault(str(document["path"]), []).append((int(document["chunk"]), str(document["content"])))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DocumentStoreError(
            f"{path} is no store, and no index of ragstore's that can be read ({type(error).__name__}: {error}): "
            "it may be damaged. Name another with --db, and index the documents again."
        ) from error
    found = []
    for name, chunks in files.items():
        texts = [text for _, text in sorted(chunks)]
        columns = {"language": language_of(" ".join(texts)[:LANGUAGE_CHARS]), "chunk_size": chunk_size}
        found.append((recorded(_absolute(name, path)), texts, columns))
    return found, chunk_size


def _absolute(name: str, index: Path) -> str:
    """Where the file is that ragstore knows by a name relative to the folder it was started in."""
    for folder in (Path.cwd(), index.absolute().parent):
        if (folder / name).exists():
            return os.path.realpath(folder / name)
    return os.path.abspath(name)
