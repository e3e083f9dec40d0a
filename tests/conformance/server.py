"""A chat server that does what its script says, on a real socket: for all that a real one would not do on demand.

    with ScriptedServer([sse(text("Hel"), text("lo"), finish()), error_reply(503, "Loading model")]) as server:
        client = ChatClient(server.base_url)
        ...
        server.requests[0].json["messages"]

Each POST to …/chat/completions takes the next reply of the script (or what the script, as a function, returns for
the request). GET …/v1/models answers with one model, "scripted"; everything else is 404, as `/props` is for a
server that is not llama.cpp; `routes` says otherwise: `routes={"GET /props": llamacpp_props()}`.

A reply is `sse(...)` (its parts in order), `json_reply(...)`, `error_reply(...)`, `raw(...)`, `capture(path)`,
`hang()` or `reset()`. Parts are events (`text`, `reasoning`, `tool_call`, `usage`, `finish`, `progress`,
`error_event`, any dict), bytes as they are, or `HOLD` (until `server.release()`, or for ever), `RESET`, `CLOSE`.
While a part holds, `server.holding` is set; `server.closed` is set when the client has closed a connection early.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HOLD, RESET, CLOSE = object(), object(), object()  # wait for release() · RST · close without an ending
CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}


@dataclass(frozen=True)
class Request:
    """What the client sent."""

    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """Status line and headers (None: not even those), then parts. Ends with the connection unless it has a length."""

    parts: tuple[Any, ...] = ()
    status: int | None = 200
    headers: dict[str, str] = field(default_factory=dict)


# Events


def delta(**fields: Any) -> dict[str, Any]:
    return {**CHUNK, "choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def text(piece: str) -> dict[str, Any]:
    return delta(content=piece)


def reasoning(piece: str, field: str = "reasoning_content") -> dict[str, Any]:
    return delta(**{field: piece})


def tool_call(name: str, arguments: Any, *, id: str = "call_1", index: int = 0, pieces: int = 3) -> tuple[dict, ...]:
    """A call in several events: the name, then the arguments (JSON text, or what is to become it) in `pieces`."""
    whole = arguments if isinstance(arguments, str) else json.dumps(arguments)
    size = max(1, -(-len(whole) // pieces))
    head = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
    tail = [whole[start : start + size] for start in range(0, len(whole), size)]
    return (
        delta(tool_calls=[head]),
        *(delta(tool_calls=[{"index": index, "function": {"arguments": piece}}]) for piece in tail),
    )


def finish(reason: str = "stop") -> dict[str, Any]:
    return {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def usage(prompt_tokens: int, completion_tokens: int) -> dict[str, Any]:
    counts = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    return {**CHUNK, "choices": [], "usage": {**counts, "total_tokens": prompt_tokens + completion_tokens}}


def progress(processed: int, total: int, cache: int = 0) -> dict[str, Any]:
    """llama.cpp's report on reading the prompt."""
    state = {"total": total, "cache": cache, "processed": processed, "time_ms": 0}
    return {**delta(role="assistant", content=None), "prompt_progress": state}


def error_event(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


# Replies


def sse(*parts: Any, done: bool = True, status: int = 200) -> Reply:
    """An event stream; tuples of events are laid flat; `done` closes it with [DONE]."""
    flat: list[Any] = []
    for part in parts:
        flat.extend(part if isinstance(part, tuple) else [part])
    if done:
        flat.append(b"data: [DONE]\n\n")
    return Reply(tuple(flat), status, {"Content-Type": "text/event-stream"})


def say(answer: str) -> Reply:
    """An answer, a word an event."""
    first, *others = answer.split(" ")
    return sse(text(first), *(text(" " + word) for word in others), finish(), usage(10, 5))


def call(name: str, arguments: Any, **options: Any) -> Reply:
    """A reply that is one tool call."""
    return sse(tool_call(name, arguments, **options), finish("tool_calls"), usage(10, 5))


def raw(body: bytes, *, status: int = 200, content_type: str = "text/plain", **headers: str) -> Reply:
    return Reply((body,), status, {"Content-Type": content_type, "Content-Length": str(len(body)), **headers})


def json_reply(value: Any, *, status: int = 200, **headers: str) -> Reply:
    return raw(json.dumps(value).encode(), status=status, content_type="application/json", **headers)


def error_reply(status: int, message: str, headers: dict[str, str] | None = None, **fields: Any) -> Reply:
    return json_reply(error_event(message, **{"code": status, **fields}), status=status, **(headers or {}))


def capture(path: Path) -> Reply:
    """A recorded stream, byte for byte."""
    return Reply((path.read_bytes(),), 200, {"Content-Type": "text/event-stream"})


def hang() -> Reply:
    """Not one byte, until released; then the connection ends."""
    return Reply((HOLD,), None)


def reset() -> Reply:
    """The connection is reset before anything is answered."""
    return Reply((RESET,), None)


def models(*names: str) -> Reply:
    return json_reply({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})


def llamacpp_props(n_ctx: int = 8192, slots: int = 1, tools: bool = True) -> Reply:
    settings = {"n_ctx": n_ctx, "params": {}}
    caps = {"supports_tools": tools}
    return json_reply({"default_generation_settings": settings, "total_slots": slots, "chat_template_caps": caps})


Script = Iterable[Reply] | Callable[[Request], Reply]


class ScriptedServer:
    """Answers on 127.0.0.1 and a free port while the `with` block runs."""

    def __init__(self, replies: Script = (), *, routes: dict[str, Reply | Callable[[Request], Reply]] | None = None):
        self.requests: list[Request] = []  # to …/chat/completions
        self.other_requests: list[Request] = []
        self.holding = threading.Event()
        self.closed = threading.Event()
        self.closed_early = 0  # how many connections
        self.open_connections = 0
        self.script(replies)
        self._routes = {"GET /v1/models": models("scripted"), **(routes or {})}
        self._loop = asyncio.new_event_loop()
        self._released = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_forever, name="scripted-server", daemon=True)

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        listening = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop)
        self._server = listening.result()
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def script(self, replies: Script) -> None:
        """What is answered from now on."""
        self._script = replies if callable(replies) else iter(replies)

    def release(self) -> None:
        """Let every HOLD go on, those to come too."""
        self._loop.call_soon_threadsafe(self._released.set)

    async def _stop(self) -> None:
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_connections += 1
        try:
            while request := await _read_request(reader):
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self._client_left()
        finally:
            self.open_connections -= 1
            writer.close()

    async def _answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Send the reply, watching for the client to go; True if the connection can be used again."""
        reply = self._reply(request)
        watcher = asyncio.create_task(reader.read(1))  # the client has nothing more to say: this is its FIN or RST
        sender = asyncio.create_task(self._send(reply, writer))
        try:
            await asyncio.wait([watcher, sender], return_when=asyncio.FIRST_COMPLETED)
            if not sender.done():
                self._client_left()
                return False
            await sender
        finally:
            watcher.cancel()
            sender.cancel()
            await asyncio.gather(watcher, sender, return_exceptions=True)
        return "Content-Length" in reply.headers and request.headers.get("connection") != "close"

    def _client_left(self) -> None:
        self.closed_early += 1
        self.closed.set()

    def _reply(self, request: Request) -> Reply:
        if request.method == "POST" and request.path.endswith("/chat/completions"):
            self.requests.append(request)
            if callable(self._script):
                return self._script(request)
            return next(self._script, error_reply(500, "the script has no more replies"))
        self.other_requests.append(request)
        route = self._routes.get(f"{request.method} {request.path}", error_reply(404, "File Not Found"))
        return route(request) if callable(route) else route

    async def _send(self, reply: Reply, writer: asyncio.StreamWriter) -> None:
        if reply.status is not None:
            head = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
            writer.write(f"HTTP/1.1 {reply.status} Scripted\r\n{head}\r\n".encode())
        for part in reply.parts:
            if part is HOLD:
                await writer.drain()
                self.holding.set()
                await self._released.wait()
            elif part is RESET:
                await writer.drain()
                at_once = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
                writer.transport.abort()
                return
            elif part is CLOSE:
                break
            else:
                writer.write(part if isinstance(part, bytes) else f"data: {json.dumps(part)}\n\n".encode())
        await writer.drain()


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, path, headers, body)
