"""The Gradio chat: `python app.py`, then http://127.0.0.1:7860. `python app.py --help` names the options.

This file opens what was asked for and lays out the page. An answer's way onto it: the agent's events → panels
(ratsearch_lib/view.py) → messages of the chat (ratsearch_lib/ui/), drawn by `gr.Chatbot`.
"""

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from concurrent.futures import Future
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from ratsearch_lib.agent.events import Event
from ratsearch_lib.cli import options as opening
from ratsearch_lib.cli.layout import clean
from ratsearch_lib.errors import RatsearchError
from ratsearch_lib.library import Library
from ratsearch_lib.ui.about import header_html, index_line, questions_for, welcome
from ratsearch_lib.ui.articles import ArchivePages
from ratsearch_lib.ui.conversation import Conversation
from ratsearch_lib.ui.headers import SecurityHeaders
from ratsearch_lib.ui.messages import typed
from ratsearch_lib.ui.quick_import import no_type_stubs
from ratsearch_lib.view import LOGO

if TYPE_CHECKING:
    import gradio as gr

UI = Path(__file__).parent / "ratsearch_lib" / "ui"
SCRIPTS = ("page.js", "reader.js")
DEFAULT_PORT = 7860
MAX_QUESTION_CHARS = 20_000
TEX = [  # no dollar signs: "$3000 and $3000" is money
    {"left": r"\[", "right": r"\]", "display": True},
    {"left": r"\(", "right": r"\)", "display": False},
]


def main() -> None:
    args = parse_arguments()
    # Gradio may neither phone home nor ask Hugging Face for anything. It reads these when it is imported.
    os.environ.update(GRADIO_ANALYTICS_ENABLED="False", HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        try:
            check_host(args.host)
            # Importing Gradio takes seconds: the model loads meanwhile.
            opened = in_background(open_everything, opening.choose(args, os.environ), stack)
            page = build(opened)
            serve(page, opened, args.host, args.port)
            stack.callback(close, page)
            asyncio.run(until_interrupted(opened, page.local_url))
        except RatsearchError as error:
            sys.exit(f"ratsearch: {' '.join(clean(str(error)).split())}")
        except KeyboardInterrupt:
            say("")


async def until_interrupted(opened: Future[opening.Session], url: str) -> None:
    session = await ready(opened)
    say(f"ratsearch {LOGO}\n{session.archive_line}\n{session.model_line}\n{url}   (Ctrl-C ends it)")
    await asyncio.Event().wait()


def in_background(function, *args) -> Future:
    """As an executor does it, but in a thread that Ctrl-C need not wait for."""
    future = Future()

    def work():
        try:
            future.set_result(function(*args))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="app.py", description="Chat with an offline encyclopedia in the browser.")
    opening.add_options(parser)
    group = parser.add_argument_group("page")
    group.add_argument("--host", default="127.0.0.1", help="the address to serve at (default: 127.0.0.1, this machine)")
    group.add_argument(
        "--port", type=port_number, help=f"the port to serve at (default: the first free one from {DEFAULT_PORT})"
    )
    return parser.parse_args()


def port_number(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is no port: name one from 0 to 65535")
    return number


def check_host(host: str) -> None:
    """RatsearchError where `host` is no address: Gradio would wait for it for ever."""
    try:
        socket.getaddrinfo(host, None)
    except (OSError, ValueError) as error:  # ValueError: NUL, a label too long
        raise RatsearchError(
            f"The page cannot be served at {host}: no such address is known. Name one of this machine's with --host."
        ) from error


def say(text: str) -> None:
    print(clean(text), flush=True)


def open_everything(options: opening.Options, stack: ExitStack) -> opening.Session:
    """What a question needs; `stack` closes it. The title index of a large archive is built while people read."""
    session = stack.enter_context(opening.open_session(options, say, build="background"))
    if session.server:
        session.agent.warm_up()
    return session


def serve(page: "gr.Blocks", opened: Future[opening.Session], host: str, port: int | None) -> None:
    """Start serving, and return. RatsearchError when that fails."""
    import gradio as gr
    from starlette.middleware import Middleware

    theme = gr.themes.Base(
        primary_hue="teal",
        neutral_hue="stone",
        font=["system-ui", "sans-serif"],  # of the system: nothing is fetched
        font_mono=["ui-monospace", "monospace"],
    )

    def library() -> Library | None:
        return opened.result().library if opened.done() and not opened.exception() else None

    page.queue(default_concurrency_limit=4, max_size=64)
    try:
        page.launch(
            server_name=host,
            server_port=port,
            theme=theme,
            css_paths=UI / "page.css",
            head="".join(f"<script>{(UI / name).read_text('utf-8')}</script>" for name in SCRIPTS),
            favicon_path=UI / "rat.svg",
            footer_links=[],
            app_kwargs={"middleware": [Middleware(ArchivePages, library), Middleware(SecurityHeaders)]},
            prevent_thread_lock=True,
            quiet=True,
            share=False,
            run_history=False,
            enable_monitoring=False,
            ssr_mode=False,
            pwa=False,
            mcp_server=False,
            max_file_size="1mb",
        )
    except OSError as error:
        where = f"port {port}" if port else f"any port from {DEFAULT_PORT}"
        raise RatsearchError(
            f"The page cannot be served at {host}, {where}: it is taken, or this machine was too busy to start within "
            "5 s. Try again, or name another with --port."
        ) from error


def close(page: "gr.Blocks") -> None:
    # Without waiting for the connections of open tabs, and without a traceback for each that is cut.
    logging.getLogger("uvicorn.error").disabled = True
    page.server.force_exit = True
    page.close(verbose=False)


def build(opened: Future[opening.Session]) -> "gr.Blocks":
    """The page. What is `opened` may still be loading: questions wait for it."""
    with no_type_stubs():
        import gradio as gr  # Gradio reads the handlers' annotations, too (so no `annotations` from __future__)

    async def run(question: str, messages: list[dict]) -> AsyncGenerator[Event, None]:
        session = await ready(opened)
        async with aclosing(session.agent.arun(question, messages)) as events:
            async for event in events:
                yield event

    async def ask(question: str, conversation: Conversation) -> AsyncIterator[tuple]:
        """The chat while an answer is written, and the box, which has a stop button meanwhile."""
        if conversation.running:
            yield gr.skip(), gr.skip()  # without this Gradio would empty both
            return
        box = gr.Textbox(value="", submit_btn=False, stop_btn=True)
        try:
            async with aclosing(conversation.ask(question, run)) as chats:
                async for chat in chats:
                    yield chat, box
                    box = gr.skip()
        except Exception:
            # The outermost edge. The box below must come back whatever happens, or nothing can be asked any more.
            logging.exception("an answer could not be shown")
        if not conversation.running:  # after "New chat", the next answer may be
            yield gr.skip(), gr.Textbox(submit_btn=True, stop_btn=False)

    async def retry(conversation: Conversation, event: gr.RetryData):
        question = conversation.take_back(conversation.turn_at(first_index(event.index)))
        async for update in ask(question, conversation):
            yield update

    async def edit(conversation: Conversation, event: gr.EditData):
        question = typed(event.value)
        if not question.strip():
            yield conversation.shown(), gr.skip()  # what was edited stands as it did
            return
        conversation.take_back(conversation.turn_at(first_index(event.index)))
        async for update in ask(question, conversation):
            yield update

    async def ask_example(conversation: Conversation, event: gr.SelectData):
        async for update in ask(event.value["text"], conversation):
            yield update

    def undo(conversation: Conversation, event: gr.UndoData):
        question = conversation.take_back(conversation.turn_at(first_index(event.index)))
        return conversation.shown(), question or gr.skip()

    def clear(conversation: Conversation):
        conversation.clear()
        return [], gr.Textbox(value="", submit_btn=True, stop_btn=False)

    async def describe() -> AsyncIterator[tuple]:
        yield gr.skip(), header_html("Opening the archive and the model…"), gr.skip()
        session = await ready(opened)
        examples = [{"text": each, "display_text": each} for each in questions_for(session.library)]
        chat = gr.Chatbot(placeholder=welcome(session.library), examples=examples)
        yield chat, *header_and_clock()

    def header_and_clock():
        """The header, and the clock that updates it while the title index is being built."""
        session = opened.result()
        index = index_line(session.library)
        return header_html(session.archive_line, session.model_line, index), gr.Timer(active=bool(index))

    with gr.Blocks(title="ratsearch", fill_height=True, fill_width=True, analytics_enabled=False) as page:
        conversation = gr.State(Conversation)
        clock = gr.Timer(2, active=False)
        with gr.Column(elem_id="page", scale=1):
            with gr.Row(elem_id="top"):
                header = gr.HTML(header_html(), elem_id="header", padding=False)
                new = gr.Button("New chat", elem_id="new", size="sm", min_width=96)
            chat = gr.Chatbot(
                elem_id="chat",
                label="Conversation",
                show_label=False,
                scale=1,
                height="100%",
                layout="bubble",
                placeholder=f"# `{LOGO}`",
                editable="user",
                buttons=["copy"],
                feedback_options=None,
                autoscroll=False,  # page.js does it
                allow_tags=False,
                latex_delimiters=TEX,
            )
            box = gr.Textbox(
                elem_id="box",
                label="Question",
                show_label=False,
                container=False,
                placeholder="Ask a question",
                submit_btn=True,
                autofocus=True,
                max_lines=6,
                max_length=MAX_QUESTION_CHARS,
            )

        private = {"api_visibility": "private", "show_progress": "hidden"}
        at_once = {**private, "queue": False}
        answering = {**private, "concurrency_id": "answers", "concurrency_limit": 4, "trigger_mode": "multiple"}
        box.submit(ask, [box, conversation], [chat, box], **answering)
        chat.retry(retry, conversation, [chat, box], **answering)
        chat.edit(edit, conversation, [chat, box], **answering)
        chat.example_select(ask_example, conversation, [chat, box], **answering)
        chat.undo(undo, conversation, [chat, box], **at_once)
        box.stop(Conversation.stop, conversation, None, **at_once)
        new.click(clear, conversation, [chat, box], **at_once)
        chat.clear(clear, conversation, [chat, box], **at_once)
        page.load(describe, None, [chat, header, clock], **private)
        clock.tick(header_and_clock, None, [header, clock], **at_once)
    return page


async def ready(opened: Future[opening.Session]) -> opening.Session:
    return await asyncio.shield(asyncio.wrap_future(opened))


def first_index(index: int | tuple[int, ...]) -> int:
    return index if isinstance(index, int) else index[0]


if __name__ == "__main__":
    main()
