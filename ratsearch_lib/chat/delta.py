"""What a chat server's stream brings, in one shape whatever the server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """The next fragment of a tool call. Fragments of one call share `index`; `arguments` adds up to JSON."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of a streamed reply; whatever it does not bring is empty or None.

    prefill        (processed, total) prompt tokens read so far, from servers that say so
    finish_reason  "stop", "length", "tool_calls" …, once
    usage          (prompt_tokens, completion_tokens), once, from servers that count
    n_generated    tokens written so far, from servers that say so
    was_reasoning  the text of this reply so far was reasoning: its closing tag came, and never an opening one
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()
    prefill: tuple[int, int] | None = None
    finish_reason: str | None = None
    usage: tuple[int, int] | None = None
    n_generated: int | None = None
    was_reasoning: bool = False
