"""What a run's answer is held against: all that the tools read in this conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from ..chat.window import is_stub
from ..evidence import check
from ..tools import ReadResult
from .events import Evidence, RunFinished
from .turn import READ_BEFORE, Turn

ARTICLE = "Article: "
READ_NOTHING = ("Article not found.", "Error:", READ_BEFORE)


async def held_against(finished: RunFinished, turn: Turn) -> Evidence | None:
    """The evidence for an answer; None where nothing was read, or nothing said."""
    sources = [*turn.sources, *read_before(turn.asked, finished.messages, turn.sources)]
    if not sources or not finished.answer.strip():
        return None
    return Evidence(finished.answer, tuple(await asyncio.to_thread(check, finished.answer, sources)))


def read_before(
    asked: Iterable[dict[str, Any]], messages: Iterable[dict[str, Any]], sources: Iterable[ReadResult]
) -> list[ReadResult]:
    """What stands in a conversation as tool results, and is not among this turn's `sources`; the newest first."""
    known = {source.text for source in sources}
    found: dict[str, ReadResult] = {}
    for message in [*messages, *asked]:
        text = message.get("content")
        if message["role"] != "tool" or not isinstance(text, str) or text in known or is_stub(text):
            continue
        if not text.startswith(READ_NOTHING):
            found[text] = ReadResult(text, _title(text))
    return list(found.values())[::-1]


def _title(text: str) -> str | None:
    first = text.partition("\n")[0]
    return first[len(ARTICLE) :].partition(" (for ")[0] if first.startswith(ARTICLE) else None
