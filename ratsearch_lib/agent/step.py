"""One request of a run: the model's reply as it streams, and the message that goes into the history."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ..chat.client import ChatClient
from ..chat.delta import Delta, ToolCallDelta
from ..chat.failures import is_models_fault
from ..chat.repair import HeldText, Parameters, find_calls, is_too_deep, repair_arguments, repair_name
from ..errors import ChatError
from .events import Event, Generated, Notice, Prefill, ReasoningDelta, TextDelta, TextWasReasoning
from .patience import patiently

LOOP_CHARS = 1000  # at the end of a reply, which repeat with a period of at most MAX_PERIOD, are a model gone astray
MAX_PERIOD = 200
LOOK_EVERY = 50  # deltas


@dataclass(slots=True)
class Call:
    """A tool call. `arguments` is None where the model wrote nothing that can be understood."""

    id: str
    name: str
    arguments: dict[str, Any] | None


@dataclass(slots=True)
class _Written:
    """A tool call as it comes in, in pieces."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Reply:
    """A reply, filled while it streams. `finish_reason` is None when the stream ended without one."""

    text: str = ""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list)
    finish_reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def message(self, *, keep_reasoning: bool = False) -> dict[str, Any]:
        """The reply as an assistant message for the history; its calls' arguments are always valid JSON."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if keep_reasoning and self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments or {})},
                }
                for call in self.calls
            ]
        return message


def stream_reply(
    client: ChatClient,
    messages: Sequence[dict[str, Any]],
    reply: Reply,
    *,
    tools: Sequence[dict[str, Any]] = (),
    known: Parameters = MappingProxyType({}),
    **options: Any,
) -> AsyncGenerator[Event, None]:
    """Ask for one completion: yields events while it streams, fills `reply`. Closing it closes the request.

    `known` are the tools whose calls are recognised, also where they are written as text. A server that is busy, or
    still loads its model, is waited for.
    """
    return patiently(lambda: _stream(client.stream(messages, tools, **options), reply, known))


async def _stream(deltas: AsyncGenerator[Delta, None], reply: Reply, known: Parameters) -> AsyncGenerator[Event, None]:
    yield Prefill(0, 0)
    calls = _Calls()
    held = HeldText(known)
    tokens = said = 0
    try:
        async with aclosing(deltas):
            async for delta in deltas:
                if delta.prefill:
                    yield Prefill(*delta.prefill)
                if delta.was_reasoning:
                    reply.reasoning += reply.text + held.rest
                    reply.text, held = "", HeldText(known)
                    yield TextWasReasoning()
                if delta.reasoning:
                    reply.reasoning += delta.reasoning
                    yield ReasoningDelta(delta.reasoning)
                if delta.text and (shown := held.feed(delta.text) if known else delta.text):
                    reply.text += shown
                    yield TextDelta(shown)
                for piece in delta.tool_calls:
                    calls.add(piece)
                if delta.text or delta.reasoning or delta.tool_calls:
                    tokens = delta.n_generated or tokens + 1
                    yield Generated(tokens)
                reply.finish_reason = delta.finish_reason or reply.finish_reason
                if delta.usage:
                    reply.prompt_tokens, reply.completion_tokens = delta.usage
                said += 1
                if not said % LOOK_EVERY and any(map(repeats_itself, (reply.text, reply.reasoning))):
                    yield Notice("The model repeated itself without end and was stopped.")
                    break
    except ChatError as error:
        # llama.cpp reports what it cannot read as an error of its own, also after a call that came whole.
        if not is_models_fault(error) and not calls.are_whole():
            raise
    reply.completion_tokens = reply.completion_tokens or tokens
    reply.calls = [_understood(call, known) for call in calls.written]
    if not reply.calls:
        # Some models call in the middle of their reasoning, and wait for the result.
        thought = "" if reply.text or held.rest else reply.reasoning[max(0, reply.reasoning.rfind("<tool_call>")) :]
        found = find_calls(held.rest or (thought if thought.startswith("<tool_call>") else ""), known)
        reply.calls = [Call("", name, arguments) for name, arguments in found]
        if held.rest and not found:
            reply.text += held.rest
            yield TextDelta(held.rest)
    name_calls(reply.calls)


class _Calls:
    """Puts tool calls together from their pieces."""

    def __init__(self) -> None:
        self.written: list[_Written] = []
        self._by_index: dict[int, _Written] = {}

    def add(self, piece: ToolCallDelta) -> None:
        call = self._by_index.get(piece.index)
        if call is None or self._is_another(call, piece):
            call = self._by_index[piece.index] = _Written()
            self.written.append(call)
        call.id = call.id or piece.id
        if piece.name != call.name:  # some servers say it with each piece
            call.name += piece.name
        call.arguments += piece.arguments

    def are_whole(self) -> bool:
        """Whether there are calls, and each has its arguments."""
        return bool(self.written) and all(parse_arguments(call.arguments) for call in self.written)

    @staticmethod
    def _is_another(call: _Written, piece: ToolCallDelta) -> bool:
        """Some servers give every call the index 0, some of these no id either."""
        if piece.id and call.id and piece.id != call.id:
            return True
        return bool(piece.name and piece.arguments and parse_arguments(call.arguments) is not None)


def _understood(call: _Written, known: Parameters) -> Call:
    guess = parse_arguments(call.arguments) or {}
    name = repair_name(call.name, guess, known)
    arguments = repair_arguments(call.arguments, known[name]) if known.get(name) else guess
    return Call(call.id, name, arguments)


def repeats_itself(text: str) -> bool:
    """Whether a text ends in the same words over and over.

    >>> repeats_itself("I will read. " * 100), repeats_itself(" ".join(map(str, range(400))))
    (True, False)
    """
    tail = text[-LOOP_CHARS:]
    if len(tail) < LOOP_CHARS:
        return False
    return any(tail.startswith(tail[period:]) for period in range(1, MAX_PERIOD + 1))


def name_calls(calls: Sequence[Call]) -> None:
    """Give each call an id of its own: servers leave them out, or repeat one."""
    taken = set()
    for number, call in enumerate(calls, 1):
        if not call.id or call.id in taken:
            call.id = f"call_{number}"
            while call.id in taken:
                call.id += "_"
        taken.add(call.id)


def parse_arguments(text: str) -> dict[str, Any] | None:
    """A call's arguments; None when they are no JSON object.

    >>> parse_arguments('{"title": "Oxygen"}')
    {'title': 'Oxygen'}
    """
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) and not is_too_deep(arguments) else None
