"""What a run tells its caller: one frozen dataclass an event.

    run      = step* Evidence? RunFinished
    step     = Prefill* (ReasoningDelta | TextDelta | TextWasReasoning | Generated)* (ToolCall ToolResult)*

`Prefill` and `Generated` are for progress displays and may be ignored. `Notice` and `ContextTrimmed` may come anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..evidence import SentenceEvidence


@dataclass(frozen=True, slots=True)
class Prefill:
    """The server has read `processed` of `total` prompt tokens (`total` 0: it does not say how many)."""

    processed: int
    total: int


@dataclass(frozen=True, slots=True)
class Generated:
    """The model has written `tokens` tokens (deltas, where the server does not count) in this step."""

    tokens: int


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The next piece of the model's reasoning: shown, not kept."""

    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer, as Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class TextWasReasoning:
    """The text of this step so far was reasoning: its closing tag has come, and never an opening one."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model calls a tool; the `ToolResult` of the same `id` follows."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the tool returned, as the model sees it.

    `title` and `source` name what was read (`source`: ``FILE.zim/PATH``); both None if nothing was. `passages` of it
    answer the question best, best first.
    """

    id: str
    text: str
    is_error: bool
    title: str | None
    source: str | None
    duration_s: float
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextTrimmed:
    """The conversation no longer fitted the context window: part of it gave way, from here on.

    results  tool results that shrank to a line, or were cut
    turns    oldest turns that were left out
    tokens   about how many tokens that freed
    """

    results: int
    turns: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Notice:
    """A remark of the program itself, for the person: one sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Which sentences of `answer` are borne out by what was read in this conversation."""

    answer: str
    sentences: tuple[SentenceEvidence, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the whole run, as the server counted them (0: it did not)."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The end of a run.

    `messages` is the conversation with this turn added, to be passed to the next `run`.
    `stop_reason`: "answered"; "max_steps" or "repeated" (after too many calls, or the same call again, a last answer
    was asked for without tools); "length" (the model's token limit cut it off); "not_found" (guided mode found no
    article); "empty" (also when asked again).
    """

    answer: str
    messages: list[dict[str, Any]]
    usage: Usage
    stop_reason: str


Event = (
    Prefill
    | Generated
    | ReasoningDelta
    | TextDelta
    | TextWasReasoning
    | ToolCall
    | ToolResult
    | ContextTrimmed
    | Notice
    | Evidence
    | RunFinished
)
