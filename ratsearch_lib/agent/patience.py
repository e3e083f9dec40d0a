"""Waiting for a server that is busy, or that still loads its model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from ..errors import ChatError, ServerLoading
from .events import Event, Notice, Prefill

WAITS_S = (1, 2, 4, 8, 16, 30)  # where the server does not say how long
MAX_WAIT_S = 120  # longer is for the person to decide
_PAID_UP = re.compile(r"insufficient_quota|billing|insufficient (credit|balance)", re.I)  # waiting does not help


async def patiently(make: Callable[[], AsyncGenerator[Event, None]]) -> AsyncGenerator[Event, None]:
    """The events of `make()`, made again after a wait while the server is too busy (429) or not ready (503).

    Only before anything of a reply came. A `Notice` tells of each wait; closing this ends it at once.
    """
    for attempt in range(len(WAITS_S) + 1):
        begun = False
        try:
            async with aclosing(make()) as events:
                async for event in events:
                    begun = begun or not isinstance(event, Prefill)
                    yield event
            return
        except ChatError as error:
            wait_s = None if begun else _wait_s(error, attempt)
            if wait_s is None:
                raise
            busy = "still loads its model" if isinstance(error, ServerLoading) else "takes no more requests for now"
        yield Notice(f"The server {busy}: asking again in {wait_s:.0f} s.")
        await asyncio.sleep(wait_s)


def _wait_s(error: ChatError, attempt: int) -> float | None:
    if error.status not in (429, 503) or attempt >= len(WAITS_S) or _PAID_UP.search(str(error)):
        return None
    wait_s = WAITS_S[attempt] if error.retry_after_s is None else error.retry_after_s
    return wait_s if wait_s <= MAX_WAIT_S else None
