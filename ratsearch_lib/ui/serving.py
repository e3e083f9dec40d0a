"""Where and to whom the page is served."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import secrets
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..cli.options import whole_number
from ..errors import RatsearchError
from .articles import ArchivePages
from .headers import OwnPageOnly, SecurityHeaders

if TYPE_CHECKING:
    import gradio as gr

    from ..library import Library

UI = Path(__file__).parent
SCRIPTS = ("page.js", "reader.js", "kept.js")
STYLES = ("page.css", "parts.css")
DEFAULT_PORT = 7860
MAX_QUEUE = 256


def add_page_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("page")
    group.add_argument("--host", default="127.0.0.1", help="the address to serve at (default: 127.0.0.1, this machine)")
    group.add_argument(
        "--port", type=port_number, help=f"the port to serve at (default: the first free one from {DEFAULT_PORT})"
    )
    group.add_argument("--share", action="store_true", help="also serve at a public address, through Gradio's servers")
    group.add_argument(
        "--auth",
        type=user_and_password,
        metavar="USER:PASSWORD",
        help="let in only who knows these (else: $RATSEARCH_AUTH, which other users of this machine cannot see)",
    )
    group.add_argument(
        "--owner-token",
        metavar="TOKEN",
        help="who gives it in the settings is the owner, as whoever is at 127.0.0.1 is (else: $RATSEARCH_OWNER_TOKEN)",
    )
    group.add_argument(
        "--concurrency",
        type=whole_number(1, "a number of questions at once is at least 1"),
        metavar="N",
        help="answer so many questions at once (default: the model server's slots)",
    )


def port_number(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is no port: name one from 0 to 65535")
    return number


def user_and_password(text: str) -> tuple[str, str]:
    user, _, password = text.partition(":")
    if not (user and password):
        raise argparse.ArgumentTypeError("give a user and a password, as in --auth rat:cheese")
    return user, password


def check_host(host: str) -> None:
    """RatsearchError where `host` is no address: Gradio would wait for it for ever."""
    try:
        socket.getaddrinfo(host, None)
    except (OSError, ValueError) as error:  # ValueError: NUL, a label too long
        raise RatsearchError(
            f"The page cannot be served at {host}: no such address is known. Name one of this machine's with --host."
        ) from error


def is_loopback(host: str) -> bool:
    """Whether an address, or a host with its port, is this machine to itself.

    >>> is_loopback("127.0.0.1:7860"), is_loopback("[::1]:7860"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        name = host if host.count(":") > 1 and "[" not in host else urlsplit(f"//{host}").hostname
        return name == "localhost" or ipaddress.ip_address(name or "").is_loopback
    except ValueError:
        return False


def warning(args: argparse.Namespace) -> str:
    """What to say before serving to more people than one, without asking who they are; else ""."""
    if args.auth or not (args.share or not is_loopback(args.host)):
        return ""
    return (
        "Whoever can reach the page may ask the model and read the archive: add --auth USER:PASSWORD to let in only "
        "those who know it."
    )


class Owner:
    """Who may change the server and the archives: whoever is at this machine, unless shared, or gives the token."""

    def __init__(self, args: argparse.Namespace):
        self.token = args.owner_token
        self.shared = args.share  # the tunnel's visitors, too, seem to come from this machine

    def is_asking(self, client: str, headers: Mapping[str, str], token: str = "") -> bool:
        if self.token and token and secrets.compare_digest(self.token.encode(), token.encode()):
            return True
        if self.shared or any(name in headers for name in ("x-forwarded-for", "forwarded", "x-real-ip", "via")):
            return False
        return is_loopback(client) and is_loopback(headers.get("host", ""))  # no other site's name for this machine


def serve(page: gr.Blocks, args: argparse.Namespace, library: Callable[[], Library | None]) -> None:
    """Start serving, and return. RatsearchError when that fails."""
    import gradio as gr
    from starlette.middleware import Middleware

    theme = gr.themes.Base(
        primary_hue="teal",
        neutral_hue="stone",
        font=["system-ui", "sans-serif"],  # of the system: nothing is fetched
        font_mono=["ui-monospace", "monospace"],
    )
    page.queue(default_concurrency_limit=4, max_size=MAX_QUEUE)
    try:
        page.launch(
            server_name=args.host,
            server_port=args.port,
            theme=theme,
            css_paths=[UI / name for name in STYLES],
            head="".join(f"<script>{(UI / name).read_text('utf-8')}</script>" for name in SCRIPTS),
            favicon_path=UI / "rat.svg",
            footer_links=[],
            app_kwargs={
                "middleware": [Middleware(OwnPageOnly), Middleware(ArchivePages, library), Middleware(SecurityHeaders)]
            },
            prevent_thread_lock=True,
            quiet=True,
            share=args.share,
            auth=args.auth,
            run_history=False,
            enable_monitoring=False,
            ssr_mode=False,
            pwa=False,
            mcp_server=False,
            max_file_size="1mb",
        )
    except OSError as error:
        where = f"port {args.port}" if args.port else f"any port from {DEFAULT_PORT}"
        raise RatsearchError(
            f"The page cannot be served at {args.host}, {where}: it is taken, or this machine was too busy to start "
            "within 5 s. Try again, or name another with --port."
        ) from error


def close(page: gr.Blocks) -> None:
    """Stop serving, without waiting for the connections of open tabs, and without a traceback for each that is cut."""
    logging.getLogger("uvicorn.error").disabled = True
    page.server.force_exit = True
    page.close(verbose=False)
