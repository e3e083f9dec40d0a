"""Server-sent events (WHATWG HTML, section 9.2), as far as chat servers use them: what stands after `data:`.

Read as bytes, since a JSON text may hold characters that Python's `splitlines` takes for the end of a line.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable


async def event_data(chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes, None]:
    """The data of each event of a stream that comes in any chunks; events without data (`retry:`) are left out.

    The last event counts also where the blank line after it is missing.
    """
    rest, data = b"", []
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            line = line.removesuffix(b"\r")
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                yield b"\n".join(data)
                data = []
    if rest.startswith(b"data:"):
        data.append(rest[5:].strip())
    if data:
        yield b"\n".join(data)
