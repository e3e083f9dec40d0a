"""How the page's questions are answered: each visitor with settings of their own, all in one line."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..agent.events import Event
from ..agent.loop import SYSTEM_PROMPT, Agent
from ..asked import Asked
from ..chat.client import ChatClient
from ..chat.window import Window
from ..cli.opening import archive_line, make_agent
from ..cli.servers import explain
from ..errors import RatsearchError
from ..view import InLine
from .line import Line

if TYPE_CHECKING:
    from ..cli.opening import Session
    from ..cli.options import Options
    from ..library import Library

MAX_CLIENTS = 32  # that are remembered
MAX_TEMPERATURE, MAX_TOKENS, MAX_STEPS = 5, 1_000_000, 50
MAX_PROMPT_CHARS = 8_000
MODES = ("auto", "tools", "guided")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a visitor may set. "", None: as the server has it.

    address, key  of another server: the owner's to set
    max_tokens    the most that the model may write at once
    """

    address: str = ""
    key: str = ""
    model: str = ""
    mode: str = "auto"
    temperature: float | None = None
    max_tokens: int | None = None
    system_prompt: str = SYSTEM_PROMPT
    max_steps: int = 10
    keep_reasoning: bool = False

    @classmethod
    def of(
        cls, address, key, model, mode, temperature, max_tokens, system_prompt, max_steps, keep_reasoning
    ) -> Settings:
        """Of what stands in the sidebar, where anything may: a number that cannot be is none."""
        return cls(
            address.strip(),
            key.strip(),
            (model or "").strip(),
            mode if mode in MODES else "auto",
            _number(temperature, 0, MAX_TEMPERATURE),
            round(tokens) if (tokens := _number(max_tokens, 1, MAX_TOKENS)) else None,
            system_prompt[:MAX_PROMPT_CHARS],
            max_steps if max_steps and 0 < max_steps <= MAX_STEPS else cls().max_steps,
            bool(keep_reasoning),
        )


class Answering:
    """Answers with what is `opened`, once it is: `size` questions at once, None for as many as the server has slots."""

    def __init__(self, opened: Future[Session], options: Options, size: int | None = None):
        self.opened, self.options = opened, options
        self.defaults = Settings(mode=options.mode, temperature=options.temperature)
        self._line = Line(size) if size else None
        self._clients: dict[tuple, ChatClient] = {}
        self._adding = threading.Lock()
        self._added: list[Library] = []

    async def session(self) -> Session:
        """What was opened. RatsearchError where that failed."""
        return await asyncio.shield(asyncio.wrap_future(self.opened))

    def library(self) -> Library | None:
        """The library, once it is open."""
        return self.opened.result().library if self.opened.done() and not self.opened.exception() else None

    def add_archive(self, path: str) -> str:
        """Read another archive, too; its title index is built in the background. Returns its name.

        RatsearchError where it cannot be opened, or one of that name is open.
        """
        from ..libraries import Libraries
        from ..library import Library

        with self._adding:
            session = self.opened.result()
            library = Library.open(Path(path.strip()).expanduser(), build="background")
            try:
                before = session.library
                joined = Libraries([*(before.libraries if isinstance(before, Libraries) else [before]), library])
            except RatsearchError:
                library.close()
                raise
            self._added.append(library)
            options = replace(self.options, zim=session.library.archive.path, zim_reason="the last one added here")
            agent = make_agent(options, session.client, joined, session.agent.transcript)
            opened: Future[Session] = Future()
            opened.set_result(replace(session, library=joined, agent=agent, archive_line=archive_line(options, joined)))
            self.opened = opened
            return library.archive.name

    def close(self) -> None:
        """Let go of the archives that were added."""
        for library in self._added:
            library.close()

    def explain(self, error: RatsearchError) -> str:
        """What to tell a visitor."""
        failed = not self.opened.done() or self.opened.exception() is not None
        return str(error) if failed else explain(error, self.opened.result().server)

    async def run(self, settings: Settings, question: str, messages: list[dict]) -> AsyncGenerator[Event, None]:
        """The agent's events, after the place in line."""
        session = await self.session()
        if self._line is None:
            slots = await session.client.aslots()
            self._line = self._line or Line(slots)
        ticket = self._line.join()
        try:
            while ahead := self._line.ahead(ticket):
                yield InLine(ahead)
                await self._line.moved()
            async with aclosing(self.agent(session, settings).arun(question, messages)) as events:
                async for event in events:
                    yield event
        finally:
            self._line.leave(ticket)

    async def ask(self, question: str) -> dict[str, Any]:
        """The answer as a script gets it, see `Asked.as_dict`."""
        asked = Asked()
        async with aclosing(self.run(self.defaults, question, [])) as events:
            async for event in events:
                asked.feed(event)
        return asked.as_dict()

    async def models(self, settings: Settings) -> list[str]:
        """What the server of these settings lists. RatsearchError, the plain verdict, where it does not answer."""
        return await self._client(await self.session(), replace(settings, model="")).amodels()

    async def room(self, settings: Settings, messages: list[dict]) -> tuple[int, int]:
        """About how many tokens a conversation takes, and the window that it must fit."""
        agent = self.agent(await self.session(), settings)
        size = await agent.client.awindow()
        fixed = [{"role": "system", "content": agent.system_prompt}]
        window = Window(size, agent.client.calibration, fixed=fixed, tools=agent.toolbox.schemas)
        return window.count(messages), size

    def agent(self, session: Session, settings: Settings) -> Agent:
        """The session's agent, or one like it with other settings."""
        if settings == self.defaults:
            return session.agent
        return Agent(
            self._client(session, settings),
            session.library.tools,
            mode=settings.mode,
            system_prompt=settings.system_prompt,
            max_steps=settings.max_steps,
            keep_reasoning=settings.keep_reasoning,
            transcript=session.agent.transcript,
        )

    def _client(self, session: Session, settings: Settings) -> ChatClient:
        key = settings.address, settings.key, settings.model, settings.temperature, settings.max_tokens
        defaults = self.defaults
        if key == (defaults.address, defaults.key, defaults.model, defaults.temperature, defaults.max_tokens):
            return session.client
        if key not in self._clients:
            wishes = {
                "temperature": settings.temperature,
                "max_tokens": settings.max_tokens,
                "seed": self.options.seed,
                "context_tokens": self.options.context,
            }
            wishes = {name: value for name, value in wishes.items() if value is not None}
            address, model, api_key = settings.address, settings.model or None, settings.key or None
            if not address:  # the session's key goes to the session's server, and nowhere else
                address, model = session.client.base_url, model or session.client.model
                api_key = session.server.api_key if session.server else self.options.api_key
            while len(self._clients) >= MAX_CLIENTS:
                del self._clients[next(iter(self._clients))]
            self._clients[key] = ChatClient(address, model, api_key, **wishes)
        return self._clients[key]


def _number(text: str, least: float, most: float) -> float | None:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if least <= number <= most else None


def in_background(function: Callable, *args: object) -> Future:
    """As an executor does it, but in a thread that Ctrl-C need not wait for."""
    future = Future()

    def work():
        try:
            future.set_result(function(*args))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future
