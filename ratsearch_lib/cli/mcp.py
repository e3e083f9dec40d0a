"""`ratsearch mcp`: serves the library's tools to other programs, over standard input and output or HTTP."""

from __future__ import annotations

import argparse
import importlib.util
import os
import secrets
import signal
import socket
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

from ..errors import RatsearchError
from .opening import open_library
from .options import Options, Report, add_archive_options, whole_number

if TYPE_CHECKING:
    from ..library import Library
    from ..mcp_server import ToolServer

DEFAULT_PORT = 8765


def add_mcp_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--http",
        action="store_true",
        default=False,
        help="serve streamable HTTP on 127.0.0.1, to who gives $RATSEARCH_MCP_TOKEN (else: a token that it prints)",
    )
    parser.add_argument(
        "--port", type=whole_number(0, "a port is a number"), default=DEFAULT_PORT, metavar="N",
        help=f"the port for --http ({DEFAULT_PORT}; 0: a free one)",
    )  # fmt: skip
    parser.add_argument(
        "--max-tokens", type=whole_number(100, "a result needs at least 100 tokens"), default=2000, metavar="N",
        help="the budget of a result (2000)",
    )  # fmt: skip
    parser.add_argument(
        "--with-question",
        action="store_true",
        default=False,
        help="let each call say what is asked, so that the best passages are shown (a larger schema)",
    )
    add_archive_options(parser)


def serve(options: Options, args: argparse.Namespace, environ: Mapping[str, str], report: Report) -> int:
    """Serve until the client, or Ctrl-C, ends it. What is said goes to standard error: the output is the protocol's."""
    if importlib.util.find_spec("mcp") is None:
        raise RatsearchError('`ratsearch mcp` needs the package mcp, which is not installed: pip install "mcp>=2.2".')
    opening: Future[Library] = Future()
    opener = threading.Thread(target=_open, args=(opening, options, report), daemon=True, name="open library")
    opener.start()

    from .. import mcp_server

    tools = mcp_server.ToolServer(
        opening,
        has_documents=options.docs is not None,
        max_tokens=args.max_tokens,
        with_question=args.with_question,
    )
    try:
        if args.http:
            _serve_http(tools, args.port, environ.get("RATSEARCH_MCP_TOKEN") or "", report)
        else:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, _end_at_once)
            mcp_server.serve_stdio(tools)
    finally:
        if opening.done() and not opening.exception():
            opening.result().close()
    return 0


def _end_at_once(number: int, frame: object) -> None:
    os._exit(128 + number)  # the ordinary way out waits for the thread that reads standard input; a build ends with us


def _open(opening: Future[Library], options: Options, report: Report) -> None:
    try:
        opening.set_result(open_library(options, report, build="background"))
    except RatsearchError as error:
        report(f"ratsearch: {error}")
        opening.set_exception(error)
    except BaseException as error:
        opening.set_exception(error)
        raise


def _serve_http(tools: ToolServer, port: int, token: str, report: Report) -> None:
    import uvicorn

    from ..mcp_server import PLACE, http_app

    try:
        listening = socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise RatsearchError(f"127.0.0.1:{port} cannot be served at ({error}): name another port.") from error
    with listening:
        chosen = token or secrets.token_urlsafe(24)
        config = uvicorn.Config(
            http_app(tools, chosen), log_level="warning", access_log=False, timeout_graceful_shutdown=1, lifespan="on"
        )
        report(f"MCP at http://127.0.0.1:{listening.getsockname()[1]}{PLACE} (Ctrl-C ends it)")
        report("with the header Authorization: Bearer " + ("$RATSEARCH_MCP_TOKEN" if token else chosen))
        uvicorn.Server(config).run(sockets=[listening])
