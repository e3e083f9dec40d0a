"""Transcripts: an agent's runs as JSON Lines, to be looked into, shown again and replayed.

    start     once: versions, archives, model, request options, system prompt, tools, and how the agent was set up
    run       a question; the lines of a run have its number
    message   a message, told once; requests and ends of runs name messages by number
    request   what the server was asked; each `delta` of its reply follows, and an `end`, or the error it `failed` with
    info      what the server said of itself: its window, whether the model takes tools
    event     what the run told its caller
    failed    a run's end by an error; `stopped`, by its caller

`at` is seconds since the start. A line is written at once and whole, so that a process may be killed at any time: a
last line that is only half there is passed over by the reader. API keys never get into it.
"""

from __future__ import annotations

import hashlib
import json
import platform
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ChatError, TranscriptError
from .events import Event, Evidence, RunFinished

if TYPE_CHECKING:
    from ..archive import Archive
    from ..chat.client import ChatClient
    from ..chat.delta import Delta
    from .loop import Agent

FORMAT = 1

Line = dict[str, Any]


class Transcript:
    """A transcript that is being written, to a new file: `Agent(client, tools, transcript=Transcript("run.jsonl"))`.

    archives  what the agent reads, so that the first line can name them

    TranscriptError when the file exists already or cannot be written. Safe for several threads and runs at once.

    >>> with Transcript("run.jsonl", *library.archives) as transcript:                     # doctest: +SKIP
    ...     Agent(client, library.tools, transcript=transcript).ask("What is a rat?").answer
    'A rodent.'
    """

    def __init__(self, path: str | Path, *archives: Archive):
        self.path = Path(path)
        self._archives = archives
        self._start = time.monotonic()
        self._lock = threading.RLock()
        self._started = False
        self._messages: dict[str, int] = {}  # numbers, by the message's JSON
        self._counts = {"run": 0, "request": 0}
        self._redact: Callable[[str], str] = str
        try:
            self._file = self.path.open("x", encoding="utf-8", buffering=1)
        except FileExistsError:
            raise TranscriptError(f"{self.path} is there already: give the transcript another name.") from None
        except (OSError, ValueError) as error:
            raise self._unwritable(error) from error

    def __enter__(self) -> Transcript:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the file. What runs still does so, unseen."""
        with self._lock:
            self._file.close()

    def recording(self, client: ChatClient, agent: Agent | None = None) -> RecordingClient:
        """`client`, with all that passes through it written here: for subagents, and requests of one's own."""
        self._redact = client.redact
        return RecordingClient(client, self, agent)

    async def run(
        self, agent: Agent, events: AsyncGenerator[Event, None], question: str
    ) -> AsyncGenerator[Event, None]:
        """The `events` of a run of `agent`, each written as it passes."""
        await self.begin(agent.client, agent)
        number = self.number("run")
        self.write("run", run=number, question=question)
        ended = False
        try:
            async with aclosing(events):
                async for event in events:
                    self._write_event(number, event)
                    ended = isinstance(event, RunFinished)
                    yield event
        except ChatError as error:
            ended = True
            self.write("failed", run=number, **error_fields(error))
            raise
        finally:
            if not ended:
                self.write("stopped", run=number)

    def write(self, type: str, **values: Any) -> None:
        """A line. TranscriptError when it cannot be written (the disk is full); nothing once this is closed."""
        line = {"type": type, "at": round(time.monotonic() - self._start, 3), **values}
        text = json.dumps(line, ensure_ascii=False, default=str, separators=(",", ":"))
        text = self._redact(text if text.isascii() else text.encode("utf-8", "replace").decode())
        with self._lock:
            if self._file.closed:
                return
            try:
                self._file.write(text + "\n")
            except OSError as error:
                raise self._unwritable(error) from error

    def number(self, kind: str) -> int:
        """The next number of a "run" or "request", from 1."""
        with self._lock:
            self._counts[kind] += 1
            return self._counts[kind]

    def message_numbers(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """The numbers of `messages`; those that are new are written."""
        numbers = []
        with self._lock:
            for message in messages:
                key = canonical(message)
                if key not in self._messages:
                    self._messages[key] = len(self._messages)
                    self.write("message", number=self._messages[key], message=message)
                numbers.append(self._messages[key])
        return numbers

    async def begin(self, client: RecordingClient, agent: Agent | None) -> None:
        """The first line, unless it is there."""
        if self._started:
            return
        with suppress(ChatError):  # which the request itself will meet, and may wait for
            await client.afind_model()
        with self._lock:
            if not self._started:
                self._started = True
                self.write("start", **self._about(client), **(_settings(agent) if agent else {}))

    def _about(self, client: RecordingClient) -> Line:
        from .. import __version__

        return {
            "format": FORMAT,
            "ratsearch": __version__,
            "python": platform.python_version(),
            "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "archives": [{"name": each.path.name, "uuid": each.uuid} for each in self._archives],
            "server": client.base_url,
            "model": client.model,
            "request_options": client.request_options,
        }

    def _write_event(self, run: int, event: Event) -> None:
        values = {each.name: getattr(event, each.name) for each in fields(event)}
        if isinstance(event, RunFinished):
            values["messages"] = self.message_numbers(event.messages)
            values["usage"] = {each.name: getattr(event.usage, each.name) for each in fields(event.usage)}
        if isinstance(event, Evidence):
            values["sentences"] = [asdict(each) for each in event.sentences]
        self.write("event", run=run, event=type(event).__name__, **values)

    def _unwritable(self, error: Exception) -> TranscriptError:
        reason = getattr(error, "strerror", None) or error
        return TranscriptError(f"The transcript {self.path} cannot be written: choose another place. ({reason})")


class RecordingClient:
    """A ChatClient whose requests and replies are written to a transcript."""

    def __init__(self, client: ChatClient, transcript: Transcript, agent: Agent | None = None):
        self._client, self._transcript, self._agent = client, transcript, agent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def __repr__(self) -> str:
        return f"{self._client!r}, recorded to {self._transcript.path}"

    async def stream(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), **options: Any
    ) -> AsyncGenerator[Delta, None]:
        """As `ChatClient.stream`."""
        await self._transcript.begin(self, self._agent)
        write, request = self._transcript.write, self._transcript.number("request")
        options = {name: value for name, value in options.items() if value is not None}
        numbers = self._transcript.message_numbers(messages)
        write("request", request=request, messages=numbers, tools=list(tools), options=options)
        try:
            async with aclosing(self._client.stream(messages, tools, **options)) as deltas:
                async for delta in deltas:
                    write("delta", request=request, **_said(delta))
                    yield delta
        except ChatError as error:
            write("failed", request=request, **error_fields(error))
            raise
        write("end", request=request)

    async def awindow(self) -> int:
        """As `ChatClient.awindow`."""
        return await self._info("window", await self._client.awindow())

    async def asupports_tools(self) -> bool | None:
        """As `ChatClient.asupports_tools`."""
        return await self._info("supports_tools", await self._client.asupports_tools())

    async def aslots(self) -> int:
        """As `ChatClient.aslots`."""
        return await self._info("slots", await self._client.aslots())

    async def acount(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> int | None:
        """As `ChatClient.acount`."""
        tokens = await self._client.acount(messages, tools)
        return await self._info("count", tokens, prompt=digest(messages, tools))

    async def _info(self, name: str, value: Any, **values: Any) -> Any:
        await self._transcript.begin(self, self._agent)
        self._transcript.write("info", name=name, value=value, **values)
        return value


def _settings(agent: Agent) -> Line:
    return {
        "mode": agent.mode,
        "max_steps": agent.max_steps,
        "keep_reasoning": agent.keep_reasoning,
        "system_prompt": agent.system_prompt,
        "tools": agent.toolbox.schemas,
    }


def canonical(value: Any) -> str:
    """JSON that is the same for values that a server would read as the same."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)


def digest(*values: Any) -> str:
    """A few characters that tell values apart."""
    return hashlib.sha256(canonical(values).encode()).hexdigest()[:16]


def error_fields(error: ChatError) -> Line:
    return {
        "error": type(error).__name__,
        "message": str(error),
        "status": error.status,
        "retry_after_s": error.retry_after_s,
    }


def _said(delta: Delta) -> Line:
    """What a delta brings, without what it leaves empty."""
    found = {}
    for each in fields(delta):
        value = getattr(delta, each.name)
        if value != each.default:
            found[each.name] = value
    if delta.tool_calls:
        found["tool_calls"] = [{each.name: getattr(c, each.name) for each in fields(c)} for c in delta.tool_calls]
    return found


def read_lines(path: str | Path) -> Iterator[Line]:
    """The lines of a transcript. TranscriptError when it cannot be read, or is none."""
    path, number = Path(path), 0
    try:
        with path.open("rb") as file:
            for text in file:
                if not text.endswith(b"\n"):
                    break  # whoever wrote it was stopped
                number += 1
                yield _line(path, number, text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TranscriptError(f"The transcript {path} cannot be read: give the path of another. ({reason})") from error
    if not number:
        raise TranscriptError(f"{path} is not a transcript of ratsearch: it has no first line.")


def _line(path: Path, number: int, text: bytes) -> Line:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        line = None
    if not isinstance(line, dict) or not isinstance(line.get("type"), str):
        raise TranscriptError(f"{path} is not a transcript of ratsearch: line {number} is none of its lines.")
    if number == 1 and line["type"] != "start":
        raise TranscriptError(f"{path} is not a transcript of ratsearch: it has no first line.")
    if number == 1 and line.get("format") != FORMAT:
        raise TranscriptError(f"{path} was written by another version of ratsearch: record it again with this one.")
    return line
