"""The agent: a question goes in, the model reads what it asks for, events come out."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, Literal

from ..chat import bridge
from ..chat.client import ChatClient
from ..tools import ToolContext
from .events import Event, Notice, RunFinished, ToolCall, ToolResult, Usage
from .guided import run_guided
from .step import Reply, stream_reply
from .toolbox import Toolbox

SYSTEM_PROMPT = (
    "You are a helpful assistant. You have one skill: reading Wikipedia articles, for when you are directly asked for "
    "factual information. The read_article tool takes the title of an article."
)
MAX_RESULT_TOKENS = 2000
MIN_RESULT_TOKENS = 200
ANSWER_TOKENS = 700  # kept free in the window for what the model writes
READ_BEFORE = "You have read this before: it stands above. Answer the question now."
ANSWER_NOW = "Now give your answer."

Message = dict[str, Any]
Mode = Literal["auto", "tools", "guided"]


class Agent:
    """Answers questions with a chat model and tools. It keeps no conversation: `messages` go in and come back.

    mode           "tools": the model calls them; "guided": the agent calls the first one itself, for models that
                   cannot; "auto" asks the server whether the model's template knows tools
    max_steps      requests before the model is asked for its answer without tools
    keep_reasoning whether the history keeps the model's reasoning (few servers want it)

    >>> from ratsearch_lib import Agent, ChatClient, Library                               # doctest: +SKIP
    >>> agent = Agent(ChatClient("localhost:8080"), [Library.open("wikipedia.zim").read_article])  # doctest: +SKIP
    >>> agent.ask("What is the largest mammal in North America?").answer                   # doctest: +SKIP
    'The American bison.'
    """

    def __init__(
        self,
        client: ChatClient,
        tools: Sequence[Callable[..., str]],
        *,
        mode: Mode = "auto",
        system_prompt: str = SYSTEM_PROMPT,
        max_steps: int = 10,
        keep_reasoning: bool = False,
    ):
        self.client = client
        self.toolbox = Toolbox(tools)
        self.mode = mode
        self.system_prompt = system_prompt
        self.max_steps = max_steps
        self.keep_reasoning = keep_reasoning

    def run(self, question: str, messages: Sequence[Message] = ()) -> bridge.Stream[Event]:
        """The events of one turn. `close()`, from any thread, stops the request at once and returns when that is done.

        ChatError when the server fails. Works inside a running event loop (Jupyter) too.
        """
        return bridge.iterate(lambda: self.arun(question, messages))

    def ask(self, question: str, messages: Sequence[Message] = ()) -> RunFinished:
        """The last event of `run`: its `answer`, `messages` and `stop_reason`."""
        *_, last = self.run(question, messages)
        return last

    async def arun(self, question: str, messages: Sequence[Message] = ()) -> AsyncGenerator[Event, None]:
        """The events of one turn, as an async iterator. Closing it (`aclosing`) stops the request."""
        messages = [*messages, {"role": "user", "content": question}]
        context = ToolContext(question, previous_questions=questions(messages[:-1]))
        guided = await self._is_guided()
        events = run_guided(self.client, self.toolbox, messages, context) if guided else self._loop(messages, context)
        async with aclosing(events):
            async for event in events:
                yield event

    async def _is_guided(self) -> bool:
        if self.mode == "auto":
            return await self.client.asupports_tools() is False
        return self.mode == "guided"

    async def _loop(self, messages: list[Message], context: ToolContext) -> AsyncGenerator[Event, None]:
        window = await self.client.awindow()
        said: list[str] = []
        missed: set[tuple[str, str]] = set()  # the calls of this run that read nothing
        done: set[tuple[str, str]] = set()  # and those that need not be run again
        prompt_tokens = completion_tokens = steps = 0
        asked_again = repeated = insists = False
        asked = list(messages)
        while True:
            last_step = steps >= self.max_steps
            reply = Reply()
            request = stream_reply(
                self.client,
                self._prompt(messages, asked_again),
                reply,
                tools=() if last_step or repeated else self.toolbox.schemas,
                known=self.toolbox.parameters,
            )
            async with aclosing(request) as events:
                async for event in events:
                    yield event
            steps += 1
            prompt_tokens += reply.prompt_tokens
            completion_tokens += reply.completion_tokens
            if last_step or repeated:
                insists = bool(reply.calls)
                reply.calls.clear()
            if not (reply.text.strip() or reply.calls or asked_again):
                asked_again = True
                continue
            messages.append(reply.message(keep_reasoning=self.keep_reasoning))
            said.append(reply.text)
            if not reply.calls:
                break
            free = window - reply.prompt_tokens - reply.completion_tokens - ANSWER_TOKENS
            context.max_tokens = max(MIN_RESULT_TOKENS, min(MAX_RESULT_TOKENS, free // len(reply.calls)))
            for call in reply.calls:
                yield ToolCall(call.id, call.name, call.arguments or {})
                key = (call.name, json.dumps(call.arguments, sort_keys=True))
                if key in done:
                    repeated = True
                    result = ToolResult(call.id, READ_BEFORE, False, None, None, 0.0)
                else:
                    context.choose = key in missed  # it cannot choose from the titles that it was shown
                    result = await self.toolbox.run(call, context)
                    (done if result.title or key in missed else missed).add(key)
                yield result
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
        answer = "\n\n".join(text.strip() for text in said if text.strip())
        if self.toolbox.schemas and (insists or not answer):
            yield Notice("The model does not come to an answer, so ratsearch looks it up for it.")
            async with aclosing(run_guided(self.client, self.toolbox, asked, context)) as events:
                async for event in events:
                    yield event
            return
        stop_reason = _stop_reason(reply, answer, last_step=last_step, repeated=repeated)
        yield RunFinished(answer, messages, Usage(prompt_tokens, completion_tokens), stop_reason)

    def _prompt(self, messages: list[Message], asked_again: bool) -> list[Message]:
        """The conversation as it is sent: the system prompt before it, and a nudge after a reply that said nothing."""
        system = [] if messages[0]["role"] == "system" else [{"role": "system", "content": self.system_prompt}]
        nudge = [{"role": "user", "content": ANSWER_NOW}] if asked_again else []
        return [*system, *messages, *nudge]


def _stop_reason(reply: Reply, answer: str, *, last_step: bool, repeated: bool) -> str:
    if not answer:
        return "empty"
    if reply.finish_reason == "length":
        return "length"
    return "max_steps" if last_step else "repeated" if repeated else "answered"


def questions(messages: Sequence[Message]) -> tuple[str, ...]:
    """What the person asked in a conversation, oldest first."""
    return tuple(each["content"] for each in messages if each["role"] == "user" and isinstance(each["content"], str))
