"""One visitor's conversation: its turns, and how an answer is streamed, stopped and taken back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

from ..agent.events import Event, RunFinished
from ..errors import ChatError, RatsearchError
from ..view import Panel, TurnView
from .messages import error_message, turn_messages, user_message

log = logging.getLogger(__name__)

TICK_S = 0.4  # how often the rat moves while no event comes
BATCH_S = 0.1  # how long events are collected before the page is drawn again

Run = Callable[[str, list[dict]], AsyncGenerator[Event, None]]  # the agent's `arun`
Explain = Callable[[RatsearchError], str]


@dataclass(slots=True)
class Turn:
    """A question, the agent's conversation after it, and what the page shows for it: panels, drawn as messages."""

    question: str
    messages: list[dict]
    panels: list[Panel] = field(default_factory=list)
    shown: list[dict] = field(default_factory=list)
    stop: Callable[[], object] | None = None


class Conversation:
    """The turns of one visitor. Not shared, and never sent to the browser: the page is drawn from it."""

    def __init__(self):
        self.turns: list[Turn] = []
        self.id = uuid4().hex
        self._running: Turn | None = None

    @property
    def running(self) -> bool:
        """Whether an answer is being written."""
        return self._running is not None

    def shown(self) -> list[dict]:
        """All turns as messages of the chat."""
        return [message for turn in self.turns for message in turn.shown]

    def stop(self) -> None:
        """End the answer that is being written, at once. May be called from any thread."""
        if running := self._running:  # read once: another thread may end it meanwhile
            running.stop()

    def clear(self) -> None:
        """Forget everything; an answer that is being written ends."""
        self.stop()
        self.turns, self._running, self.id = [], None, uuid4().hex

    def restore(self, id: str, turns: list[Turn]) -> None:
        """Go on with a conversation that was kept."""
        self.clear()
        self.turns, self.id = turns, id or self.id
        for number, turn in enumerate(turns):
            turn.shown = [user_message(turn.question), *turn_messages(turn.panels, number)]

    def take_back(self, turn: int = -1) -> str:
        """Forget that turn and those after it, and give back its question ("" if there is none)."""
        if not self.turns or self.running:
            return ""
        question = self.turns[turn].question
        del self.turns[turn:]
        return question

    def turn_at(self, message: int) -> int:
        """The number of the turn that message number `message` of the chat belongs to."""
        end = 0
        for number, turn in enumerate(self.turns):
            end += len(turn.shown)
            if message < end:
                return number
        return -1

    async def ask(self, question: str, run: Run, explain: Explain = str) -> AsyncGenerator[list[dict], None]:
        """Let `run` answer; yields the whole chat whenever it has changed, and at every tick.

        `explain` says what is wrong where that fails. Closing this closes `run`'s generator, and with it the request to
        the model's server.
        """
        if self.running or not question.strip():
            return
        before = self.turns[-1].messages if self.turns else []
        view, number = TurnView(), len(self.turns)
        turn = Turn(question, before, view.panels)
        stopped, finished = asyncio.Event(), {}
        turn.stop = partial(asyncio.get_running_loop().call_soon_threadsafe, stopped.set)
        self.turns.append(turn)
        self._running = turn

        def draw() -> list[dict]:
            view.tick()
            turn.shown = [user_message(question), *turn_messages(view.panels, number, finished)]
            return self.shown()

        try:
            yield draw()
            # A long chat takes longer to send and draw: 0.5 s at 200 messages.
            every_s = max(BATCH_S, len(self.shown()) / 400)
            async with aclosing(batches(run(question, before), every_s, stopped)) as groups:
                async for events in groups:
                    for event in events:
                        view.feed(event)
                        if isinstance(event, RunFinished):
                            turn.messages = event.messages
                    yield draw()
        except RatsearchError as error:
            view.fail(explain(error))
            if isinstance(error, ChatError) and error.messages is not None:
                turn.messages = error.messages
        except Exception as error:
            # The outermost edge: whatever is wrong in here, a person waits for an answer and must be told.
            view.fail(_own_fault(error))
        finally:
            # Also when the tab was closed. What was answered until then stays in the conversation.
            view.finish(interrupted=True)
            answer = "\n\n".join(panel.body for panel in view.panels if panel.kind == "answer")
            if turn.messages is before and answer:
                turn.messages = [*before, _said("user", question), _said("assistant", answer)]
            if self._running is turn:
                self._running = None
            try:
                draw()
            except Exception as error:  # the same edge: without this the page would be left as it was
                turn.shown = [user_message(question), error_message(_own_fault(error))]
        yield self.shown()


def _own_fault(error: Exception) -> str:
    """Log it; what to tell people. The log alone has the error's own words: they may quote anything."""
    log.error("an answer could not be completed", exc_info=error)
    return f"Something went wrong in ratsearch itself: {type(error).__name__}; the log has the details."


def _said(role: str, text: str) -> dict:
    return {"role": role, "content": text}


async def batches(
    events: AsyncGenerator[Event, None], every_s: float, stopped: asyncio.Event
) -> AsyncGenerator[list[Event], None]:
    """The events in groups: what came within `every_s` of the last group, or nothing after a tick. Ends when `stopped`.

    Closing it cancels what `events` waits for and closes it.
    """
    loop = asyncio.get_running_loop()
    next_event: asyncio.Task | None = None
    stop = asyncio.ensure_future(stopped.wait())
    try:
        while True:
            group: list[Event] = []
            deadline = loop.time() + TICK_S
            while (left := deadline - loop.time()) > 0:
                next_event = next_event or asyncio.ensure_future(anext(events))
                await asyncio.wait({next_event, stop}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if stop.done():
                    yield group
                    return
                if not next_event.done():
                    break
                finished, next_event = next_event, None
                try:
                    group.append(finished.result())
                except StopAsyncIteration:
                    yield group
                    return
                except Exception:
                    yield group  # what came before it is shown
                    raise
                if len(group) == 1:
                    deadline = loop.time() + every_s
            yield group
    finally:
        stop.cancel()
        if next_event:
            next_event.cancel()
            await asyncio.wait({next_event})
        await events.aclose()
