"""The agent: a question goes in, the model reads what it asks for, events come out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, Literal

from ..chat import bridge
from ..chat.client import ChatClient
from ..errors import ChatError
from ..tools import ToolContext
from .events import Event, RunFinished
from .evidence import held_against
from .guided import TITLE_PROMPT
from .patience import patiently
from .toolbox import Toolbox
from .transcript import Transcript
from .turn import Turn

if TYPE_CHECKING:
    from .replay import ReplayClient

SYSTEM_PROMPT = (
    "You are a helpful assistant. You have one skill: reading Wikipedia articles, for when you are directly asked for "
    "factual information. The read_article tool takes the title of an article."
)

Message = dict[str, Any]
Mode = Literal["auto", "tools", "guided"]


class Agent:
    """Answers questions with a chat model and tools. It keeps no conversation: `messages` go in and come back.

    mode           "tools": the model calls them; "guided": the agent calls the first one itself, for models that
                   cannot; "auto" asks the server whether the model's template knows tools
    max_steps      requests before the model is asked for its answer without tools
    keep_reasoning whether the history keeps the model's reasoning (few servers want it)
    transcript     where every run is saved

    >>> from ratsearch_lib import Agent, ChatClient, Library                               # doctest: +SKIP
    >>> agent = Agent(ChatClient("localhost:8080"), [Library.open("wikipedia.zim").read_article])  # doctest: +SKIP
    >>> agent.ask("What is the largest mammal in North America?").answer                   # doctest: +SKIP
    'The American bison.'
    """

    def __init__(
        self,
        client: ChatClient | ReplayClient,
        tools: Sequence[Callable[..., str]],
        *,
        mode: Mode = "auto",
        system_prompt: str = SYSTEM_PROMPT,
        max_steps: int = 10,
        keep_reasoning: bool = False,
        transcript: Transcript | None = None,
    ):
        self.client = transcript.recording(client, self) if transcript else client
        self.transcript = transcript
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
        """The events of one turn, as an async iterator. Closing it (`aclosing`) stops the request.

        A ChatError carries `messages`: the conversation with what was received until then, for the next turn.
        """
        before = list(messages)
        turn = Turn(
            self.client,
            self.toolbox,
            [*before, {"role": "user", "content": question}],
            ToolContext(question, previous_questions=questions(before)),
            system_prompt=self.system_prompt,
            max_steps=self.max_steps,
            keep_reasoning=self.keep_reasoning,
        )
        run = patiently(lambda: self._begin(turn))
        try:
            async with aclosing(self.transcript.run(self, run, question) if self.transcript else run) as events:
                async for event in events:
                    yield event
        except ChatError as error:
            error.messages = turn.broken_off()
            raise

    def warm_up(self) -> None:
        """Have the server read what every question's prompt begins with, so that the first need not wait for it.

        For servers that keep what they have read, and cost nothing. What fails here, the question will tell.
        """
        with suppress(ChatError):
            bridge.run(self._warm_up())

    async def _warm_up(self) -> None:
        if await self._is_guided():
            prompt, tools = TITLE_PROMPT, ()
        else:
            prompt, tools = [{"role": "system", "content": self.system_prompt}], self.toolbox.schemas
        prompt = [*prompt, {"role": "user", "content": "?"}]
        async with aclosing(self.client.stream(prompt, tools, max_tokens=1)) as deltas:
            async for _ in deltas:
                pass

    async def _begin(self, turn: Turn) -> AsyncGenerator[Event, None]:
        events = turn.guided() if await self._is_guided() else turn.events()
        async with aclosing(events):
            async for event in events:
                if isinstance(event, RunFinished) and (found := await held_against(event, turn)):
                    yield found
                yield event

    async def _is_guided(self) -> bool:
        return self.mode == "guided" or (self.mode == "auto" and await self.client.asupports_tools() is False)


def questions(messages: Sequence[Message]) -> tuple[str, ...]:
    """What the person asked in a conversation, oldest first."""
    return tuple(each["content"] for each in messages if each["role"] == "user" and isinstance(each["content"], str))
