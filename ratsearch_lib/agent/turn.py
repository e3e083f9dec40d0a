"""One turn in tools mode: the model calls, reads, and answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from ..chat.client import ChatClient
from ..chat.failures import refuses_tools
from ..chat.window import Trimmed, Window
from ..errors import ChatError, ContextOverflow
from ..tools import ReadResult, ToolContext
from .events import ContextTrimmed, Event, Notice, RunFinished, ToolCall, ToolResult, Usage
from .guided import run_guided
from .step import Call, Reply, stream_reply
from .toolbox import Toolbox

MAX_RESULT_TOKENS = 2000
MIN_RESULT_TOKENS = 200
MAX_SAME_CALL = 3  # in a run: titles, the article, and the article again after it was cut; in a small window for ever
READ_BEFORE = "You have read this before: it stands above. Answer the question now."
ANSWER_NOW = "Now give your answer."
NO_ANSWER = "(The answer did not come.)"

Message = dict[str, Any]


class Turn:
    """A question on its way to an answer.

    `messages`, which ends with the question, is the conversation as it grows; `asked` is how it was at first.
    """

    def __init__(
        self,
        client: ChatClient,
        toolbox: Toolbox,
        messages: list[Message],
        context: ToolContext,
        *,
        system_prompt: str,
        max_steps: int,
        keep_reasoning: bool,
    ):
        self.messages = messages
        self._client, self._toolbox, self._context = client, toolbox, context
        self._max_steps, self._keep_reasoning = max_steps, keep_reasoning
        self.asked = list(messages)
        self._system = [] if messages[0]["role"] == "system" else [{"role": "system", "content": system_prompt}]
        self._window = Window(0)
        self._reply = Reply()
        self._asked_again = False
        self._keys: dict[str, tuple[str, str]] = {}  # the calls of this run by id: name and arguments
        self._missed: set[tuple[str, str]] = set()  # those that read nothing
        self._times: Counter[tuple[str, str]] = Counter()
        self._done: set[tuple[str, str]] = set()  # those whose results stand whole, or need not be tried again
        self._stands: dict[str, ToolResult] = {}  # what was read, by source, as far as it stands whole

    @property
    def sources(self) -> list[ReadResult]:
        """What was read in this turn."""
        return self._context.sources

    async def events(self) -> AsyncGenerator[Event, None]:
        schemas = self._toolbox.schemas
        window = await self._client.awindow()
        self._window = Window(window, self._client.calibration, fixed=self._system, tools=schemas)
        said: list[str] = []
        prompt_tokens = completion_tokens = steps = 0
        repeated = insists = False
        while True:
            last_step = steps >= self._max_steps
            tools = () if last_step or repeated else schemas
            try:
                async with aclosing(self._request(tools)) as events:
                    async for event in events:
                        yield event
            except ChatError as error:
                if not tools or steps or not refuses_tools(error):
                    raise
                self._client.calibration.refuses_tools = True
                async with aclosing(self.guided("The server offers this model no tools")) as events:
                    async for event in events:
                        yield event
                return
            reply = self._reply
            steps += 1
            prompt_tokens += reply.prompt_tokens
            completion_tokens += reply.completion_tokens
            if last_step or repeated:
                insists = bool(reply.calls)
                reply.calls.clear()
            if not (reply.text.strip() or reply.calls or self._asked_again):
                self._asked_again = True
                continue
            self.messages.append(reply.message(keep_reasoning=self._keep_reasoning))
            said.append(reply.text)
            if not reply.calls:
                break
            if trimmed := self._share(len(reply.calls)):
                yield trimmed
            for call in reply.calls:
                yield ToolCall(call.id, call.name, call.arguments or {})
                result = await self._read(call)
                repeated = repeated or result.text == READ_BEFORE
                yield result
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
        answer = "\n\n".join(text.strip() for text in said if text.strip())
        if schemas and (insists or not answer):
            async with aclosing(self.guided("The model does not come to an answer")) as events:
                async for event in events:
                    yield event
            return
        stop_reason = _stop_reason(reply, answer, last_step=last_step, repeated=repeated)
        yield RunFinished(answer, self.messages, Usage(prompt_tokens, completion_tokens), stop_reason)

    def broken_off(self) -> list[Message]:
        """The conversation as it stands after a failure, fit to go on with: what was received is in it."""
        if text := self._reply.text.strip():
            return [*self.messages, {"role": "assistant", "content": text}]
        if self.messages[-1]["role"] == "user":
            return self.messages[:-1]
        return [*self.messages, {"role": "assistant", "content": NO_ANSWER}]

    async def _request(self, tools: Sequence[dict[str, Any]]) -> AsyncGenerator[Event, None]:
        """One request, whose reply is `self._reply` then; asked again shortened where it does not fit."""
        self._reply = Reply()
        refusal: ContextOverflow | None = None
        while True:
            if self._window.is_tight(self.messages):
                exact = await self._client.acount(self._prompt(), self._toolbox.schemas)
                self._window.counted(self.messages, exact or 0)
            trimmed = self._window.fit(self.messages)
            if trimmed:
                yield self._forget(trimmed)
            elif refusal:
                raise refusal
            request = stream_reply(
                self._client, self._prompt(), self._reply, tools=tools, known=self._toolbox.parameters
            )
            try:
                async with aclosing(request) as events:
                    async for event in events:
                        yield event
                break
            except ContextOverflow as error:
                if refusal or self._reply.text or self._reply.reasoning:
                    raise
                refusal = error
                self._window.overflowed(self.messages, str(error))
        read = self._reply.prompt_tokens
        if len(tools) == len(self._toolbox.schemas) and self._window.reported(self.messages, read):
            yield Notice(
                f"The server has read only {read:,} tokens of this conversation: its context window is smaller than "
                "it says. Start it with more (Ollama: OLLAMA_CONTEXT_LENGTH=16384)."
            )

    def _prompt(self) -> list[Message]:
        """The conversation as it is sent: the system prompt before it, and a nudge after a reply that said nothing.

        The nudge is part of the last message, since many chat templates insist on turns.
        """
        if not self._asked_again:
            return [*self._system, *self.messages]
        *before, last = self.messages
        return [*self._system, *before, {**last, "content": f"{last['content']}\n\n{ANSWER_NOW}"}]

    def _share(self, calls: int) -> ContextTrimmed | None:
        """Give each of the calls' results its share of what is left in the window, making room if that is little."""
        wanted = min(MAX_RESULT_TOKENS, max(MIN_RESULT_TOKENS, self._window.size // 4))
        trimmed = self._window.fit(self.messages, calls * wanted)
        left = self._window.max_prompt - self._window.count(self.messages)
        share = min(MAX_RESULT_TOKENS, left / calls) / self._client.calibration.ratio  # in tokens as we estimate them
        self._context.max_tokens = max(MIN_RESULT_TOKENS, int(share))
        return self._forget(trimmed) if trimmed else None

    def _forget(self, trimmed: Trimmed) -> ContextTrimmed:
        """What no longer stands in the conversation may be read again."""
        keys = {self._keys[call] for call in trimmed.calls if call in self._keys}
        self._done -= keys
        self._missed -= keys
        self._stands = {source: each for source, each in self._stands.items() if each.id not in trimmed.calls}
        return ContextTrimmed(len(trimmed.calls), trimmed.turns, trimmed.tokens)

    async def _read(self, call: Call) -> ToolResult:
        key = (call.name, json.dumps(call.arguments, sort_keys=True))
        self._times[key] += 1
        if key in self._done or self._times[key] > MAX_SAME_CALL:
            return ToolResult(call.id, READ_BEFORE, False, None, None, 0.0)
        self._keys[call.id] = key
        self._context.choose = key in self._missed  # it cannot choose from the titles that it was shown
        result = await self._toolbox.run(call, self._context)
        missed = result.title is None and call.name in self._toolbox.tells_sources and key not in self._missed
        (self._missed if missed else self._done).add(key)
        if result.source is None:
            return result
        before = self._stands.setdefault(result.source, result)
        if before is not result and _lines(result) <= _lines(before):  # by another name
            return replace(result, text=READ_BEFORE)
        return result

    async def guided(self, why: str = "") -> AsyncGenerator[Event, None]:
        """The turn in guided mode, from its beginning; `why`, where it was not meant to be."""
        if why:
            yield Notice(f"{why}, so ratsearch looks it up for it.")
        async with aclosing(run_guided(self._client, self._toolbox, self.asked, self._context)) as events:
            async for event in events:
                yield event


def _lines(result: ToolResult) -> set[str]:
    """The lines of a result, but for the first, which says by what name it was asked for."""
    return set(result.text.splitlines()[1:])


def _stop_reason(reply: Reply, answer: str, *, last_step: bool, repeated: bool) -> str:
    if not answer:
        return "empty"
    if reply.finish_reason == "length":
        return "length"
    return "max_steps" if last_step else "repeated" if repeated else "answered"
