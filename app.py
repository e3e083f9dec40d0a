"""The Gradio chat: `python app.py`, then http://127.0.0.1:7860. `python app.py --help` names the options.

This file opens what was asked for and lays out the page. An answer's way onto it: the agent's events → panels
(ratsearch_lib/view.py) → messages of the chat (ratsearch_lib/ui/), drawn by `gr.Chatbot`.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import ExitStack, aclosing, suppress
from functools import partial
from pathlib import Path

from ratsearch_lib.cli.layout import clean
from ratsearch_lib.cli.opening import Session, open_session
from ratsearch_lib.cli.options import Options, add_options, add_save_option, choose
from ratsearch_lib.cli.zim import catalogue
from ratsearch_lib.errors import ChatError, RatsearchError
from ratsearch_lib.ui import about, feedback, kept, kiwix, sidebar
from ratsearch_lib.ui.answering import Answering, Settings, in_background
from ratsearch_lib.ui.conversation import Conversation
from ratsearch_lib.ui.messages import TEX, edited
from ratsearch_lib.ui.quick_import import no_type_stubs
from ratsearch_lib.ui.serving import Owner, add_page_options, check_host, close, serve, user_and_password, warning
from ratsearch_lib.view import LOGO

MAX_QUESTION_CHARS = 20_000


def main() -> None:
    args = parse_arguments()
    # Gradio may neither phone home nor ask Hugging Face for anything. It reads these when it is imported.
    os.environ.update(GRADIO_ANALYTICS_ENABLED="False", HF_HUB_DISABLE_TELEMETRY="1")
    # It asks matplotlib, where that is installed, which backend it uses: to find one out costs the first visitor 2 s.
    os.environ.setdefault("MPLBACKEND", "agg")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        try:
            check_host(args.host)
            options = choose(args, os.environ)
            if not options.hub:  # then a model file is asked for by name
                os.environ["HF_HUB_OFFLINE"] = "1"
            # Importing Gradio takes seconds: the model loads meanwhile.
            opened = in_background(open_everything, options, stack)
            answering = Answering(opened, options, args.concurrency)
            page = build(answering, Owner(args))
            say(warning(args))
            serve(page, args, answering.library)
            stack.callback(close, page)
            stack.callback(answering.close)
            asyncio.run(until_interrupted(opened, [page.local_url, page.share_url]))
        except RatsearchError as error:
            sys.exit(f"ratsearch: {' '.join(clean(str(error)).split())}")
        except KeyboardInterrupt:
            print(flush=True)


async def until_interrupted(opened: Future[Session], addresses: list[str | None]) -> None:
    session = await asyncio.shield(asyncio.wrap_future(opened))
    say(f"ratsearch {LOGO}\n{session.archive_line}\n{session.model_line}")
    say("   ".join([*filter(None, addresses), "(Ctrl-C ends it)"]))
    await asyncio.Event().wait()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="app.py", description="Chat with an offline encyclopedia in the browser.")
    add_options(parser)
    add_save_option(parser)
    add_page_options(parser)
    args = parser.parse_args()
    if not args.auth and (named := os.environ.get("RATSEARCH_AUTH")):
        try:
            args.auth = user_and_password(named)
        except argparse.ArgumentTypeError as error:
            parser.error(f"RATSEARCH_AUTH: {error}")
    args.owner_token = args.owner_token or os.environ.get("RATSEARCH_OWNER_TOKEN")
    return args


def say(text: str) -> None:
    if text:
        print(clean(text), flush=True)


def open_everything(options: Options, stack: ExitStack) -> Session:
    """What a question needs; `stack` closes it. The title index of a large archive is built while people read."""
    session = stack.enter_context(open_session(options, say, build="background"))
    if session.server:
        session.agent.warm_up()
    return session


def build(answering: Answering, owner: Owner):
    """The page. What it answers with may still be loading: questions wait for it."""
    with no_type_stubs():
        import gradio as gr  # Gradio reads the handlers' annotations, too (so no `annotations` from __future__)

    async def ask(question: str, conversation: Conversation, settings: Settings) -> AsyncIterator[tuple]:
        """The chat while an answer is written, and the box, which has a stop button meanwhile."""
        if conversation.running:
            yield gr.skip(), gr.skip()  # without this Gradio would empty both
            return
        box, run = gr.Textbox(value="", submit_btn=False, stop_btn=True), partial(answering.run, settings)
        try:
            async with aclosing(conversation.ask(question[:MAX_QUESTION_CHARS], run, answering.explain)) as chats:
                async for chat in chats:
                    yield chat, box
                    box = gr.skip()
        except Exception:
            # The outermost edge. The box below must come back whatever happens, or nothing can be asked any more.
            logging.exception("an answer could not be shown")
        if not conversation.running:  # after "New chat", the next answer may be
            yield gr.skip(), gr.Textbox(submit_btn=True, stop_btn=False)

    async def retry(conversation: Conversation, settings: Settings, event: gr.RetryData):
        question = conversation.take_back(conversation.turn_at(first_index(event.index)))
        async for update in ask(question, conversation, settings):
            yield update

    async def edit(conversation: Conversation, settings: Settings, event: gr.EditData):
        question = edited(event.value)
        if not question.strip():
            yield conversation.shown(), gr.skip()  # what was edited stands as it did
            return
        conversation.take_back(conversation.turn_at(first_index(event.index)))
        async for update in ask(question, conversation, settings):
            yield update

    async def ask_example(conversation: Conversation, settings: Settings, event: gr.SelectData):
        async for update in ask(event.value["text"], conversation, settings):
            yield update

    def undo(conversation: Conversation, event: gr.UndoData):
        question = conversation.take_back(conversation.turn_at(first_index(event.index)))
        return conversation.shown(), question or gr.skip()

    def clear(conversation: Conversation):
        conversation.clear()
        return [], gr.Textbox(submit_btn=True, stop_btn=False), ""

    async def settle(conversation: Conversation, settings: Settings):
        """After an answer: the conversation as the browser keeps it, and how full the context window is."""
        if conversation.running or not conversation.turns:
            return gr.skip(), gr.skip()
        with suppress(ChatError):
            room = await answering.room(settings, conversation.turns[-1].messages)
            return kept.to_json(conversation.id, conversation.turns), about.meter_html(*room)
        return kept.to_json(conversation.id, conversation.turns), ""

    def open_kept(text: str, conversation: Conversation):
        try:
            conversation.restore(*kept.from_json(text))
        except RatsearchError as error:
            gr.Warning(str(error))
            return gr.skip(), gr.skip()
        return conversation.shown(), gr.Textbox(value="", submit_btn=True, stop_btn=False)

    def as_markdown(text: str) -> str:
        try:
            return kept.to_markdown(kept.from_json(text)[1])
        except RatsearchError as error:
            gr.Warning(str(error))
            return ""

    def rate(conversation: Conversation, event: gr.LikeData):
        session, turn = answering.opened.result(), conversation.turns[conversation.turn_at(first_index(event.index))]
        liked = event.liked if isinstance(event.liked, bool) else None
        try:
            feedback.save(turn, liked, session.client.model, session.library.archive.path.name)
        except OSError as error:
            gr.Warning(f"This could not be saved: {error.strerror}.")

    async def change(
        address, key, model, mode, temperature, max_tokens, prompt, max_steps, keep, token, request: gr.Request
    ):
        is_owner = owner.is_asking(request.client.host, request.headers, token or "")
        server = (address, key) if is_owner else ("", "")
        settings = Settings.of(*server, model, mode, temperature, max_tokens, prompt, max_steps, keep)
        return settings, *[gr.update(visible=is_owner)] * len(side.owners)

    async def test(settings: Settings):
        try:
            models = await answering.models(settings)
        except RatsearchError as error:
            return about.verdict_html(str(error)), gr.skip()
        return about.verdict_html(f"It answers. Its models: {', '.join(models) or 'none'}."), gr.Dropdown(models)

    async def add(path, token, request: gr.Request):
        try:
            if not owner.is_asking(request.client.host, request.headers, token or ""):
                raise RatsearchError("Only the owner may add archives.")
            name = await asyncio.to_thread(answering.add_archive, path)
        except RatsearchError as error:
            return *refresh(), about.verdict_html(str(error)), gr.skip()
        return *refresh(), about.verdict_html(f"{name} is read, too."), ""

    async def describe(request: gr.Request) -> AsyncIterator[tuple]:
        yield about.header_html("Opening the archive and the model…"), *[gr.skip()] * (4 + len(side.owners))
        session = await answering.session()
        examples = [{"text": each, "display_text": each} for each in about.questions_for(session.library)]
        chat = gr.Chatbot(placeholder=about.welcome(session.library), examples=examples)
        models = [session.client.model]
        with suppress(ChatError):
            models = await answering.models(answering.defaults)
        seen = gr.update(visible=owner.is_asking(request.client.host, request.headers))
        yield *refresh(), chat, gr.Dropdown(models), *[seen] * len(side.owners)

    def refresh():
        """The header, the facts of the archive, and the clock that updates both while its titles are indexed."""
        session = answering.opened.result()
        index = about.index_line(session.library)
        header = about.header_html(session.archive_line, session.model_line, index)
        return header, about.archive_html(session.library), gr.Timer(active=bool(index))

    async def ask_script(question: str) -> dict:
        """{"answer", "stop_reason", "sources": [{"title", "source"}], "summary", "sentences": [{"sentence", …}]}"""
        try:
            return await answering.ask(question[:MAX_QUESTION_CHARS])
        except RatsearchError as error:
            raise gr.Error(answering.explain(error), print_exception=False) from error

    with gr.Blocks(title="ratsearch", fill_height=True, fill_width=True, analytics_enabled=False) as page:
        gr.api(ask_script, api_name="ask", concurrency_limit=None)
        conversation, settings, clock = gr.State(Conversation), gr.State(answering.defaults), gr.Timer(2, active=False)
        side = sidebar.build(answering.defaults, asks_token=bool(owner.token))
        with gr.Column(elem_id="page", scale=1):
            with gr.Row(elem_id="top"):
                header = gr.HTML(about.header_html(), elem_id="header", padding=False)
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
            meter = gr.HTML(elem_id="meter", padding=False)
            snapshot = gr.Textbox(visible="hidden")

        private = {"api_visibility": "private", "show_progress": "hidden"}
        at_once = {**private, "queue": False}
        answered = {**private, "concurrency_limit": None, "trigger_mode": "multiple"}  # the line is answering's own
        for event in (
            box.submit(ask, [box, conversation, settings], [chat, box], **answered),
            chat.retry(retry, [conversation, settings], [chat, box], **answered),
            chat.edit(edit, [conversation, settings], [chat, box], **answered),
            chat.example_select(ask_example, [conversation, settings], [chat, box], **answered),
            chat.undo(undo, conversation, [chat, box], **at_once),
            side.open.click(
                open_kept, [side.chosen, conversation], [chat, box], js="() => [ratsearch.chosen(), null]", **private
            ),
        ):
            event.then(settle, [conversation, settings], [snapshot, meter], **at_once).then(
                None, snapshot, None, js="ratsearch.keep", **at_once
            )
        box.stop(Conversation.stop, conversation, None, **at_once)
        for forget in (new.click, chat.clear):
            forget(clear, conversation, [chat, box, meter], js="(c) => (ratsearch.fresh(), c)", **at_once)
        chat.like(rate, conversation, None, **private)
        side.markdown.click(as_markdown, side.chosen, side.made, js="() => ratsearch.chosen()", **private).then(
            None, side.made, None, js="ratsearch.asMarkdown", **at_once
        )
        changes = [each.change if isinstance(each, gr.Textbox) else each.input for each in side.settings]
        gr.on(changes, change, side.settings, [settings, *side.owners], trigger_mode="multiple", **at_once)
        side.add.click(add, [side.path, side.token], [header, side.archive, clock, side.added, side.path], **private)
        folder = answering.options.zim.parent if answering.options.zim else Path()
        kiwix.wire(side.downloads, owner, side.token, side.path, catalogue(os.environ), folder)
        side.test.click(test, settings, [side.verdict, side.model], **private)
        page.load(describe, None, [header, side.archive, clock, chat, side.model, *side.owners], **private)
        clock.tick(refresh, None, [header, side.archive, clock], **at_once)
    return page


def first_index(index: int | tuple[int, ...]) -> int:
    return index if isinstance(index, int) else index[0]


if __name__ == "__main__":
    main()
