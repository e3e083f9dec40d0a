"""One request of a run: the model's reply as it streams, and the message that goes into the history."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ..chat.client import ChatClient
from ..chat.repair import HeldText, Parameters, find_calls, repair_arguments, repair_name
from .events import Event, Generated, Prefill, ReasoningDelta, TextDelta, TextWasReasoning


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


async def stream_reply(
    client: ChatClient,
    messages: Sequence[dict[str, Any]],
    reply: Reply,
    *,
    tools: Sequence[dict[str, Any]] = (),
    known: Parameters = MappingProxyType({}),
    **options: Any,
) -> AsyncGenerator[Event, None]:
    """Ask for one completion: yields events while it streams, fills `reply`. Closing it closes the request.

    `known` are the tools whose calls are recognised, also where they are written as text.
    """
    yield Prefill(0, 0)
    slots: dict[int, _Written] = {}
    written: list[_Written] = []
    held = HeldText(known)
    tokens = 0
    async with aclosing(client.stream(messages, tools, **options)) as deltas:
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
                call = slots.get(piece.index)
                if call is None or (piece.id and call.id and piece.id != call.id):  # some servers index every call 0
                    call = slots[piece.index] = _Written()
                    written.append(call)
                call.id = call.id or piece.id
                call.name += piece.name
                call.arguments += piece.arguments
            if delta.text or delta.reasoning or delta.tool_calls:
                tokens = delta.n_generated or tokens + 1
                yield Generated(tokens)
            reply.finish_reason = delta.finish_reason or reply.finish_reason
            if delta.usage:
                reply.prompt_tokens, reply.completion_tokens = delta.usage
    reply.completion_tokens = reply.completion_tokens or tokens
    reply.calls = [_understood(call, known) for call in written]
    if held.rest and not written:
        reply.calls = [Call("", name, arguments) for name, arguments in find_calls(held.rest, known)]
    if held.rest and not reply.calls:
        reply.text += held.rest
        yield TextDelta(held.rest)
    name_calls(reply.calls)


def _understood(call: _Written, known: Parameters) -> Call:
    guess = parse_arguments(call.arguments) or {}
    name = repair_name(call.name, guess, known)
    arguments = repair_arguments(call.arguments, known[name]) if known.get(name) else guess
    return Call(call.id, name, arguments)


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
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) else None
