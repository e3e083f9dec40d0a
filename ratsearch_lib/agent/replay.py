"""ReplayClient: a recorded server, in place of a ChatClient."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import errors
from ..chat.bridge import run
from ..chat.delta import Delta, ToolCallDelta
from ..chat.info import SLOTS_IF_UNKNOWN, WINDOW_IF_UNKNOWN
from ..chat.window import Calibration
from ..errors import BadReply, ChatError, TranscriptError
from .transcript import Line, canonical, digest, read_lines

_SHOWN_CHARS = 80


@dataclass(slots=True)
class _Exchange:
    """A recorded request, and what came of it."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    options: dict[str, Any]
    deltas: list[Delta] = field(default_factory=list)
    ended: bool = False
    failure: Line | None = None
    played: int = 0


class ReplayClient:
    """Plays the replies of a recorded server, without one: `Agent(ReplayClient("run.jsonl"), tools).run(question)`.

    With the tools, the archive and the settings of the recording an agent tells the same events again, times aside; a
    reply may be played any number of times. A request that was not recorded raises TranscriptError, which says how it
    differs. `start` is the transcript's first line: see `ratsearch_lib.agent.transcript`.

    >>> Agent(ReplayClient("run.jsonl"), library.tools).ask("What is a rat?").answer        # doctest: +SKIP
    'A rodent.'
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.start: Line = {}
        self._exchanges: dict[int, _Exchange] = {}
        self._info: dict[str, Any] = {}
        messages: dict[int, dict[str, Any]] = {}
        for line in read_lines(self.path):
            try:
                self._take(line, messages)
            except (KeyError, TypeError, ValueError) as error:
                raise TranscriptError(f"The transcript {self.path} is damaged: record it again. ({error!r})") from error
        if not self.start:
            raise TranscriptError(f"{self.path} is not a transcript of ratsearch: it has no first line.")
        self.model: str = self.start["model"]
        self.base_url: str = self.start["server"]
        self.request_options: dict[str, Any] = self.start["request_options"]
        self.calibration = Calibration()

    def __repr__(self) -> str:
        return f"ReplayClient({str(self.path)!r})"

    async def stream(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), **options: Any
    ) -> AsyncGenerator[Delta, None]:
        """The recorded reply to this request. Raises what the server's failure raised."""
        options = {name: value for name, value in options.items() if value is not None}
        exchange = self._find(list(messages), list(tools), options)
        exchange.played += 1
        for delta in exchange.deltas:
            yield delta
        if exchange.failure is not None:
            raise _failure(exchange.failure)
        if not exchange.ended:
            raise BadReply(f"The recording {self.path} ends in the middle of this reply: it was stopped there.")

    async def awindow(self) -> int:
        """The recorded server's context window."""
        return min(filter(None, (self._info.get("window", WINDOW_IF_UNKNOWN), self.calibration.limit)))

    async def acount(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> int | None:
        """The recorded count of this prompt's tokens; None where there is none."""
        return self._info.get(f"count {digest(messages, tools)}")

    async def asupports_tools(self) -> bool | None:
        """Whether the recorded model takes tools."""
        return False if self.calibration.refuses_tools else self._info.get("supports_tools")

    async def aslots(self) -> int:
        """How many requests the recorded server worked on at once."""
        return self._info.get("slots", SLOTS_IF_UNKNOWN)

    async def amodels(self) -> list[str]:
        """The recorded model."""
        return [self.model]

    async def afind_model(self) -> str:
        """The recorded model."""
        return self.model

    def models(self) -> list[str]:
        """`amodels`, for callers that are not async."""
        return run(self.amodels())

    def find_model(self) -> str:
        """`afind_model`, for callers that are not async."""
        return self.model

    def window(self) -> int:
        """`awindow`, for callers that are not async."""
        return run(self.awindow())

    def supports_tools(self) -> bool | None:
        """`asupports_tools`, for callers that are not async."""
        return run(self.asupports_tools())

    def slots(self) -> int:
        """`aslots`, for callers that are not async."""
        return run(self.aslots())

    def redact(self, text: str) -> str:
        """`text`: there is no key here."""
        return text

    def _take(self, line: Line, messages: dict[int, dict[str, Any]]) -> None:
        match line:
            case {"type": "start"}:
                self.start = line
            case {"type": "message", "number": number, "message": message}:
                messages[number] = message
            case {"type": "info", "name": name, "value": value}:
                self._info[f"count {line['prompt']}" if name == "count" else name] = value
            case {"type": "request", "request": number, "tools": tools, "options": options}:
                self._exchanges[number] = _Exchange([messages[n] for n in line["messages"]], tools, options)
            case {"type": "delta", "request": number}:
                self._exchanges[number].deltas.append(_delta(line))
            case {"type": "end", "request": number}:
                self._exchanges[number].ended = True
            case {"type": "failed", "request": number}:
                self._exchanges[number].failure = line

    def _find(self, messages: list[Any], tools: list[Any], options: dict[str, Any]) -> _Exchange:
        """The recorded request that is asked; of several, that which was played least."""
        asked = canonical([messages, tools, options])
        exchanges = self._exchanges.values()
        same = [each for each in exchanges if canonical([each.messages, each.tools, each.options]) == asked]
        if same:
            return min(same, key=lambda each: each.played)
        raise TranscriptError(f"{self.path} holds no such request: {self._difference(messages, tools, options)}")

    def _difference(self, messages: list[Any], tools: list[Any], options: dict[str, Any]) -> str:
        """How a request differs from the recorded one that is most like it."""
        if not self._exchanges:
            return "it holds none."
        nearest = max(self._exchanges.values(), key=lambda each: _alike(each.messages, messages))
        n = _alike(nearest.messages, messages)
        if n < max(len(messages), len(nearest.messages)):
            return f"message {n + 1} is {_shown(messages, n)}, and was {_shown(nearest.messages, n)}."
        if canonical(tools) != canonical(nearest.tools):
            return f"the tools are {_names(tools)}, and were {_names(nearest.tools)}, or are described otherwise."
        return f"the options are {options}, and were {nearest.options}."


def _delta(line: Line) -> Delta:
    values = {name: value for name, value in line.items() if name in Delta.__slots__}
    for name in ("prefill", "usage"):
        if name in values:
            values[name] = tuple(values[name])
    values["tool_calls"] = tuple(ToolCallDelta(**call) for call in values.get("tool_calls", ()))
    return Delta(**values)


def _failure(line: Line) -> ChatError:
    kind = getattr(errors, str(line["error"]), ChatError)
    error = (kind if issubclass(kind, ChatError) else ChatError)(line["message"], status=line["status"])
    error.retry_after_s = line["retry_after_s"]
    return error


def _alike(one: list[Any], other: list[Any]) -> int:
    """How many messages two conversations begin with in common."""
    n = 0
    while n < min(len(one), len(other)) and canonical(one[n]) == canonical(other[n]):
        n += 1
    return n


def _shown(messages: list[Any], n: int) -> str:
    if n >= len(messages):
        return "not there"
    said = " ".join(str(messages[n].get("content") or messages[n].get("tool_calls") or "").split())
    return f'of the {messages[n].get("role")}, "{said if len(said) <= _SHOWN_CHARS else said[:_SHOWN_CHARS] + "…"}"'


def _names(tools: list[Any]) -> str:
    return ", ".join(str(tool.get("function", {}).get("name")) for tool in tools) or "none"
