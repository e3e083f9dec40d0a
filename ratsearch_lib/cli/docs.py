"""`ratsearch docs`: search in your own files for agents. JSON on standard output; errors as JSON on standard error."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, NoReturn

from ..documents import Chunk, DocumentStore, IndexReport
from ..documents.chunk import CHUNK_WORDS, MAX_CHUNK_WORDS
from ..errors import RatsearchError

DEFAULT_STORE, RAGSTORE_INDEX = "rag.db", "rag.db.json"
TOP = 5
MAX_TOP = 10_000


class _Usage(Exception):
    """The command line is wrong."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Usage(f"{message[0].upper()}{message[1:]}. See `{self.prog} --help`.")


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run one command. Returns the exit status: 0, or 1 for any error."""
    try:
        args = _parser().parse_args(argv)
        path = _store_path(args.db, environ)
        if args.command == "interactive":
            return _interactive(path, sys.stdin)
        with _opened(path) as (store, note):
            return _say(_run(store, args, note))
    except (_Usage, RatsearchError) as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        _fail("Stopped. What was finished is kept; the same command goes on from there.")
        return 130
    except OSError as error:
        if error.filename is not None:  # not about the output
            return _fail(f"{error.filename}: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to be flushed
        return _fail(f"The output cannot be written: {error.strerror}.")


def _parser() -> _Parser:
    parser = _Parser(
        prog="ratsearch docs",
        description="Index your own files and search them. Prints JSON: "
        '{"ok": true, "message": …, "data": …} on standard output, {"ok": false, "message": …} on standard error.',
        epilog="Exit status: 0, or 1 for any error. SKILL.md tells an agent how to use it.",
    )
    parser.add_argument("--db", metavar="FILE", help=f"the store (else: $RAG_DB, ./{DEFAULT_STORE})")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)

    def add(name: str, summary: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=summary, description=summary)
        command.add_argument("--db", metavar="FILE", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        return command

    index = add("index", "bring the store up to files and folders: what is new, changed, moved or gone")
    index.add_argument("paths", nargs="+", metavar="PATH")
    index.add_argument(
        "--chunk-size",
        type=_number(1, MAX_CHUNK_WORDS),
        metavar="WORDS",
        help=f"about how many words a chunk has (as before, at first {CHUNK_WORDS})",
    )
    search = add("search", "the chunks that answer a query best")
    search.add_argument("query", nargs="+", metavar="QUERY")
    search.add_argument(
        "--top", "--top-k", type=_number(1, MAX_TOP), default=TOP, metavar="N", help=f"how many ({TOP})"
    )
    add("get", "a whole chunk").add_argument("id", metavar="ID")
    add("list", "every chunk")
    add("delete", "forget chunks, files, or all files below a folder").add_argument(
        "targets", nargs="+", metavar="ID|PATH"
    )
    add("stats", "how much the store holds")
    add("interactive", "read commands from standard input, one a line; `exit` or its end ends it")
    add("verify", "check that the store is whole")
    add("export", "write the store to a file of JSON Lines").add_argument("file", metavar="FILE")
    add("import", "take in what export wrote").add_argument("file", metavar="FILE|-")
    return parser


def _number(least: int, most: int):
    def parse(text: str) -> int:
        number = int(text) if re.fullmatch(r"[-+]?\d{1,18}", text) else None
        if number is None or not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{text[:40]!r} is no whole number from {least} to {most:,}")
        return number

    return parse


def _store_path(given: str | None, environ: Mapping[str, str]) -> Path:
    if given is not None and not given.strip():
        raise _Usage("--db is empty: give a file, or leave the option out.")
    named = given or environ.get("RAG_DB")
    if not named:
        old = Path(RAGSTORE_INDEX)
        return old if old.is_file() and not Path(DEFAULT_STORE).exists() else Path(DEFAULT_STORE)
    if "\0" in named:
        raise _Usage("A file's name holds no NUL.")
    return Path(named).expanduser()


class _opened:
    """The store at a path, and a remark if it was converted for that; an index of ragstore's becomes one beside it."""

    def __init__(self, path: Path):
        self._path = path

    def __enter__(self) -> tuple[DocumentStore, str]:
        from ..documents.transfer import convert_ragstore, is_ragstore

        note = ""
        if is_ragstore(self._path):
            store, n_chunks = convert_ragstore(self._path)
            note = f"{self._path} is an index of ragstore's and stays as it is; its store is {store}"
            note += "." if n_chunks is None else f", made now with {n_chunks:,} chunks."
            self._path = store
        self._store = DocumentStore(self._path)
        return self._store, note

    def __exit__(self, *_: object) -> None:
        self._store.close()


def _run(store: DocumentStore, args: argparse.Namespace, note: str = "") -> dict[str, Any]:
    """The command's answer. Raises RatsearchError."""
    if args.command in ("search", "get", "list", "stats", "verify", "export", "delete") and not store.path.exists():
        raise RatsearchError(f"There is no store {store.path}: make one with `ratsearch docs index FOLDER`.")
    message, data = _COMMANDS[args.command](store, args)
    message = " ".join(part for part in (note, message) if part)
    return {"ok": True, **({"message": message} if message else {}), "data": data}


def _index(store: DocumentStore, args: argparse.Namespace) -> tuple[str, Any]:
    with _progress() as progress:
        report = store.index(*args.paths, chunk_size=args.chunk_size, progress=progress)
    skipped = [{"path": each.path, "reason": each.reason} for each in report.skipped]
    counts = {name: getattr(report, name) for name in ("indexed", "updated", "unchanged", "moved", "removed")}
    data = {**counts, "skipped": len(skipped), "total_docs": report.total_chunks, "db": str(store.path)}
    return _summary(report), {**data, "skipped_files": skipped}


def _summary(report: IndexReport) -> str:
    counts = {
        "indexed": report.indexed, "updated": report.updated, "unchanged": report.unchanged, "moved": report.moved,
        "removed": report.removed, "skipped": len(report.skipped),
    }  # fmt: skip
    said = ", ".join(f"{n:,} {what}" for what, n in counts.items() if n or what == "indexed")
    return f"Files: {said}. The store has {report.total_chunks:,} chunks."


def _progress():
    """A bar on standard error where that is a terminal, else nothing: an agent reads both streams."""
    if not sys.stderr.isatty():
        return nullcontext(None)
    from .progress import progress_bar

    return progress_bar("Indexing", lambda line: print(line, file=sys.stderr), unit="files")


def _search(store: DocumentStore, args: argparse.Namespace) -> tuple[str, Any]:
    query = " ".join(args.query)
    if not query.strip():
        raise _Usage("The query is empty: give three to six words that the text is likely to have.")
    results = store.search(query, args.top)
    message = "" if results else "Nothing was found: try other words for the same."
    return message, [{**asdict(result), "score": round(result.score, 3)} for result in results]


def _get(store: DocumentStore, args: argparse.Namespace) -> tuple[str, Any]:
    chunk = store.get(args.id)
    return "", {**_shown(chunk), "content": chunk.text}


def _shown(chunk: Chunk) -> dict[str, Any]:
    shown = {name: getattr(chunk, name) for name in ("id", "path", "title", "chunk", "words")}
    return {**shown, **({"also_in": list(chunk.also_in)} if chunk.also_in else {})}


def _list(store: DocumentStore, args: argparse.Namespace) -> tuple[str, Any]:
    documents = [_shown(chunk) for chunk in store.list()]
    return "", {"count": len(documents), "documents": documents}


def _delete(store: DocumentStore, args: argparse.Namespace) -> tuple[str, Any]:
    deleted = sum(store.delete(target) for target in args.targets)
    return f"{deleted:,} chunks deleted.", {"deleted": deleted, "total_docs": store.stats().total_chunks}


def _stats(store: DocumentStore, args: argparse.Namespace) -> tuple[str, Any]:
    stats = store.stats()
    return "", {
        "total_chunks": stats.total_chunks,
        "unique_files": stats.unique_files,
        "unique_terms": stats.unique_terms,
        "avg_chunk_len": round(stats.avg_chunk_len, 1),
        "chunk_size_cfg": stats.chunk_size,
        "db": str(store.path),
    }


def _verify(store: DocumentStore, args: argparse.Namespace) -> tuple[str, Any]:
    faults = store.verify()
    if faults:
        raise RatsearchError(
            f"{store.path} is damaged: {'; '.join(faults[:5])}. Delete it and index the documents again."
        )
    return "The store is whole.", {"faults": []}


def _export(store: DocumentStore, args: argparse.Namespace) -> tuple[str, Any]:
    from ..documents.transfer import export

    files, chunks = export(store, Path(args.file))
    return f"{files:,} files written.", {"files": files, "chunks": chunks, "file": args.file}


def _import(store: DocumentStore, args: argparse.Namespace) -> tuple[str, Any]:
    from ..documents.transfer import import_lines

    try:
        with nullcontext(sys.stdin) if args.file == "-" else open(args.file, encoding="utf-8") as lines:
            files, chunks = import_lines(store, lines, args.file)
    except UnicodeDecodeError as error:
        raise RatsearchError(f"{args.file} is not in UTF-8. Nothing was imported.") from error
    return f"{files:,} files imported.", {"files": files, "chunks": chunks, "db": str(store.path)}


_COMMANDS = {
    "index": _index, "search": _search, "get": _get, "list": _list, "delete": _delete, "stats": _stats,
    "verify": _verify, "export": _export, "import": _import,
}  # fmt: skip


def _interactive(path: Path, lines: IO[str]) -> int:
    """A command a line, quoted as in a shell. Each is answered by a line: on standard error if it fails."""
    parser = _parser()
    with _opened(path) as (store, note):
        for line in lines:
            try:
                words = shlex.split(line)
                if not words:
                    continue
                if words in (["exit"], ["quit"]):
                    break
                args = parser.parse_args(words)
                if args.command == "interactive" or args.db is not None:
                    raise _Usage("Here a line is one command, on the store that this was started with.")
                _say(_run(store, args, note))
                note = ""
            except ValueError as error:  # of shlex
                _fail(f"The line cannot be taken apart ({error}): put quotes around words with quotes in them.")
            except (_Usage, RatsearchError) as error:
                _fail(str(error))
            except SystemExit:  # --help
                continue
    return 0


def _say(answer: dict[str, Any]) -> int:
    print(_dumps(answer, sys.stdout), flush=True)
    return 0


def _fail(message: str) -> int:
    with suppress(OSError):
        print(_dumps({"ok": False, "message": message}, sys.stderr), file=sys.stderr, flush=True)
    return 1


def _dumps(value: Any, stream: IO[str]) -> str:
    """One line of JSON, in which nothing can drive a terminal."""
    text = json.dumps(value, ensure_ascii=(stream.encoding or "").lower() != "utf-8")
    return re.sub("[\x7f-\x9f\u2028\u2029\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)
