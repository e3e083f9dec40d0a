"""The line that questions wait in while the model's server answers as many as it can."""

from __future__ import annotations

import asyncio


class Line:
    """First come, first served, `size` at once. Used from one event loop.

    >>> line = Line(1)
    >>> first, second = line.join(), line.join()
    >>> line.ahead(first), line.ahead(second)
    (0, 1)
    >>> line.leave(first)
    >>> line.ahead(second)
    0
    """

    def __init__(self, size: int):
        self.size = size
        self._tickets: list[object] = []
        self._moved: asyncio.Event | None = None

    def join(self) -> object:
        """A ticket, which must `leave` in the end."""
        ticket = object()
        self._tickets.append(ticket)
        return ticket

    def leave(self, ticket: object) -> None:
        """Make room for the next one."""
        self._tickets.remove(ticket)
        if self._moved:
            self._moved.set()
            self._moved = None

    def ahead(self, ticket: object) -> int:
        """How many must be done before it is this one's turn."""
        return max(0, self._tickets.index(ticket) - self.size + 1)

    async def moved(self) -> None:
        """Wait until someone leaves."""
        self._moved = self._moved or asyncio.Event()
        await self._moved.wait()
