"""`ratsearch` (also `python -m ratsearch_lib`): chat, ask, read and search titles in a terminal."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .. import __version__
from ..errors import RatsearchError
from ..spelling import unquoted
from .layout import clean
from .opening import open_session
from .options import add_archive_options, add_options, add_save_option, choose, number_from, whole_number


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit status: 0, 1 for failure, 130 for Ctrl-C; exits with 2 on wrong usage."""
    _prepare_streams()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # in order, closing what is open
    argv = sys.argv[1:] if argv is None else list(argv)
    if argv[:1] == ["docs"]:  # which speaks JSON, also of wrong usage
        from .docs import main as docs

        return docs(argv[1:], os.environ)
    parser = _parser()
    args = parser.parse_args(argv)
    try:
        if args.command == "ask":
            args.question = _question(args.question) or args.fail("there is no question")
        if args.command in ("read", "titles"):
            unquoted(args.title.strip()) or args.fail("there is no title")
        status = _run(args)
        sys.stdout.flush()
        return status
    except RatsearchError as error:
        print(f"ratsearch: {' '.join(clean(str(error)).split())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    except OSError as error:
        if error.filename is not None:  # not about the output
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to be flushed
        if not isinstance(error, BrokenPipeError):  # with which whoever read the output has seen enough
            with suppress(OSError):
                print(f"ratsearch: the output cannot be written ({error.strerror})", file=sys.stderr)
        return 1


def _prepare_streams() -> None:
    """Standard streams that take any text, in UTF-8 to files and pipes: Windows would choose an old code page."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started this
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, until the process ends
        elif hasattr(stream, "reconfigure"):
            as_it_is = mode == "r" or stream.isatty() or "PYTHONIOENCODING" in os.environ
            stream.reconfigure(encoding=None if as_it_is else "utf-8", errors="replace")


def _run(args: argparse.Namespace) -> int:
    if args.command == "mcp":  # a client waits, so without the imports below
        from .mcp import serve

        return serve(choose(args, os.environ), args, os.environ, _say)
    from .screen import Screen

    out, err = Screen(sys.stdout, os.environ), Screen(sys.stderr, os.environ)
    if args.command == "replay":
        from .replay import replay

        return replay(args.file, out, speed=args.speed)
    if args.command == "doctor":
        from .doctor import doctor

        return doctor(args, os.environ, out, as_json=args.json)
    if args.command == "model":
        from .models import list_models

        return list_models(out, as_json=args.json)
    if args.command == "zim":
        from .zim import zim

        return zim(args, os.environ, out, err.line)
    options = choose(args, os.environ)

    from . import commands, terminal

    match args.command:
        case "read":
            return commands.read(options, args.title, out, err.line, full=args.full, as_json=args.json)
        case "titles":
            return commands.titles(options, args.title, out, err.line, limit=args.limit, as_json=args.json)
        case "index":
            from .index import index

            return index(options, out, err.line, leads=args.leads)
        case "ask":
            with open_session(options, err.line) as session:
                return commands.ask(
                    session, args.question, out, err, verbose=args.verbose, check=args.check, as_json=args.json
                )
        case _:
            with open_session(options, err.line) as session:
                return terminal.chat(session, out)


def _say(text: str) -> None:
    print(clean(text), file=sys.stderr, flush=True)


def _question(words: list[str]) -> str:
    """The question as given, or from standard input."""
    if words == ["-"] or (not words and not sys.stdin.isatty()):
        return sys.stdin.read().strip()
    return " ".join(words).strip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ratsearch",
        description="Chat with a language model that reads an offline Wikipedia, or any other ZIM archive.",
        epilog="In the chat, Ctrl-C stops an answer; Ctrl-C twice in a row, or Ctrl-D, leaves.",
    )
    parser.add_argument("--version", action="version", version=f"ratsearch {__version__}")
    add_options(parser)
    add_save_option(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands instead of the chat")

    def add(name: str, summary: str, **texts: str) -> argparse.ArgumentParser:
        # suppressed defaults, so that an option may stand before the command too
        return commands.add_parser(name, help=summary, description=summary, argument_default=argparse.SUPPRESS, **texts)

    ask = add(
        "ask",
        "answer one question; only the answer goes to standard output",
        epilog="Exit status: 0 answered, 1 failed or nothing found, 130 stopped by Ctrl-C.",
    )
    ask.add_argument("question", nargs="*", default=[], help='the question ("-" or none: from standard input)')
    ask.add_argument("--verbose", "-v", action="store_true", default=False, help="show reasoning and tool calls")
    ask.add_argument(
        "--check",
        action="store_true",
        default=False,
        help="print which sentences of the answer the articles support; exit status 3 if there are none",
    )
    ask.add_argument(
        "--json", action="store_true", default=False, help="print the answer, what was read and the evidence as JSON"
    )
    ask.set_defaults(fail=ask.error)
    add_options(ask)
    add_save_option(ask)

    read = add(
        "read",
        "print what the model would read for a title",
        epilog='--json prints {"found": true, "title": …, "source": "FILE.zim/PATH", "text": …}, or where there is no '
        'such article {"found": false, "related": [TITLE, …]}. Exit status: 0 found, 1 not found or failed.',
    )
    read.add_argument("title", help='the title, also "TITLE#SECTION"')
    read.set_defaults(fail=read.error)
    read.add_argument("--full", action="store_true", default=False, help="the whole article, however long")
    read.add_argument("--json", action="store_true", default=False, help="print JSON")
    add_archive_options(read)

    titles = add(
        "titles",
        "print the titles nearest to a query",
        epilog='--json prints [{"title": …, "path": …, "score": 0 to 1, "matched": TITLE or a redirect to it}, …], '
        "best first. Exit status: 0 found, 1 none found or failed.",
    )
    titles.add_argument("title", metavar="query", help="a title as one remembers it")
    titles.set_defaults(fail=titles.error)
    titles.add_argument(
        "--limit",
        type=whole_number(1, "a whole number of at least 1"),
        default=20,
        metavar="N",
        help="how many at most (20)",
    )
    titles.add_argument("--json", action="store_true", default=False, help="print JSON")
    add_archive_options(titles)

    index = add(
        "index",
        "build an archive's indexes now, so that nothing waits for them later",
        epilog="They are kept in FILE.zim.ratsearch beside the archive, or in the cache folder where that cannot be "
        "written. One that is there and fits is left as it is. Ctrl-C stops without harm. Exit status: 0 built or "
        "there, 1 failed, 130 stopped by Ctrl-C.",
    )
    index.add_argument(
        "--leads",
        action="store_true",
        default=False,
        help="also index each article's first paragraph, which finds related articles for descriptions and questions",
    )
    add_archive_options(index)

    from .mcp import add_mcp_options

    mcp = add(
        "mcp",
        "serve read_article to other programs over the Model Context Protocol",
        epilog="Without --http it speaks over standard input and output, for a client that starts it. The client's "
        "configuration stands in README.",
    )
    add_mcp_options(mcp)

    doctor = add(
        "doctor",
        "look whether all is there that a question needs, and say what to do",
        epilog="Exit status: 0 all that is needed is there, 1 something is broken.",
    )
    doctor.add_argument("--json", action="store_true", default=False, help="print JSON")
    add_options(doctor)

    model = add("model", "models that suit, to be fetched with --model").add_subparsers(
        dest="model_command", metavar="COMMAND", required=True
    )
    models = model.add_parser("list", help="list a few models that suit: size, memory, licence, and whether it is here")
    models.add_argument("--json", action="store_true", help="print JSON")

    from .zim import add_zim_commands

    add_zim_commands(add("zim", "search the Kiwix library, download archives from it, and list those that are here"))

    replay = add(
        "replay",
        "show a transcript that --save wrote, as it happened",
        epilog="Without --speed no wait is longer than a second, and in a pipe there is none.",
    )
    replay.add_argument("file", type=Path, metavar="FILE", help="the transcript")
    replay.add_argument(
        "--speed",
        type=number_from(0, "a speed is a number from 0"),
        default=None,
        metavar="N",
        help="N times as fast as it happened; 0: at once",
    )
    commands.add_parser("docs", help="index your own files and search them; JSON for agents (see ratsearch docs -h)")
    return parser
