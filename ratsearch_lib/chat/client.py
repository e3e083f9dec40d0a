"""ChatClient: one OpenAI-compatible chat server, its quirks normalised to deltas."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from ..errors import BadReply, ChatError, ModelNotFound
from . import failures
from .bridge import run
from .delta import Delta
from .endpoint import Endpoint
from .info import (
    WINDOW_IF_UNKNOWN,
    count_slots,
    count_tokens,
    find_model,
    find_window,
    is_llamacpp,
    knows_tools,
    list_models,
)
from .memory import Memory
from .roles import plain_roles, wants_plain_roles
from .think import ThinkTags
from .window import Calibration
from .wire import read_chunk

log = logging.getLogger(__name__)

# Fields that make a reply more telling, and that a strict server may refuse.
_OPTIONAL = ("stream_options", "return_progress", "cache_prompt")
_EMPTY = Delta()


class ChatClient:
    """One chat server: `ChatClient("localhost:8080")`.

    model            a name of `models()`; None: the first that can chat, known as `.model` after the first use
    api_key          sent to this address only
    timeout_s        the longest silence: reading a long prompt takes a laptop minutes
    context_tokens   the context window, for servers that do not say
    request_options  go into each request as they are: seed=1, top_p=0.9, chat_template_kwargs={…}

    >>> client = ChatClient("localhost:8080", temperature=0.5)
    >>> client.base_url
    'http://localhost:8080/v1'
    """

    def __init__(
        self,
        base_url: str,
        model: str | None = None,
        api_key: str | None = None,
        *,
        timeout_s: float = 900.0,
        context_tokens: int | None = None,
        **request_options: Any,
    ):
        headers = request_options.pop("extra_headers", None) or {}
        extra_body = request_options.pop("extra_body", None) or {}
        self.model = model
        self.request_options = {**request_options, **extra_body}
        self._endpoint = Endpoint(base_url, api_key, timeout_s=timeout_s, headers=headers)
        self._memory = Memory(self._endpoint)
        self._context_tokens = context_tokens
        self._tells_window = True
        self._takes_tools: dict[str, bool | None] = {}  # by model
        self._is_llamacpp = False
        self._refused: set[str] = set()
        self._thinks_first = False
        self._wants_plain_roles = False
        self.calibration = Calibration()

    def __repr__(self) -> str:
        return f"ChatClient({self.base_url!r}, model={self.model!r})"  # and not the key

    @property
    def base_url(self) -> str:
        return self._endpoint.base_url

    def redact(self, text: str) -> str:
        """`text` without the key, should it stand there: for what is written to a file."""
        return self._endpoint.redact(text)

    async def stream(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        response_format: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        tool_choice: str | Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Delta, None]:
        """The reply to `messages`, as it comes. Raises a `ChatError`.

        Closing the generator, or cancelling the task that waits for it, closes the connection at once, so that
        the server stops too, even while it still reads the prompt.
        """
        given = {
            "tools": list(tools) or None,
            "tool_choice": tool_choice if tools else None,
            "response_format": response_format,
            "max_tokens": max_tokens,
            "temperature": temperature,
        }
        body = {
            **await self._defaults(),
            **self.request_options,
            **{name: value for name, value in given.items() if value is not None},
            "messages": list(messages),
            "stream": True,
        }
        said_anything = finished = called = cut = False
        tags = ThinkTags(inside=self._thinks_first)
        try:
            async with aclosing(self._chunks(body)) as chunks:
                async for chunk in chunks:
                    delta = read_chunk(chunk)
                    finished = finished or delta.finish_reason is not None
                    cut = cut or delta.finish_reason == "length"
                    called = called or bool(delta.tool_calls)
                    said_anything = said_anything or bool(delta.text or delta.reasoning or delta.tool_calls)
                    if delta != _EMPTY:
                        for each in tags.feed(delta):
                            yield each
        except BadReply:
            if not finished:
                raise
        self._thinks_first = self._thinks_first or tags.closed_unopened
        for each in tags.finish(whole=not (called or cut)):
            yield each
        if not (said_anything or finished):
            raise failures.broken_off(self.base_url, "it ended before the first word")

    async def amodels(self) -> list[str]:
        """The names of the models that the server lists, those that cannot chat left out. Raises a `ChatError`."""
        return await list_models(self._endpoint)

    async def afind_model(self) -> str:
        """The name of the model that is asked, as the server lists it. ModelNotFound if it does not serve it.

        A server that lists nothing is believed to serve what was named.
        """
        if self.model is not None:
            self.model = await find_model(self._endpoint, self.model)
        return await self._model_name()

    async def awindow(self) -> int:
        """The context window in tokens, prompt and answer together.

        What the server says, what it was found to be, and `context_tokens`: the smallest; 4,096 if none is known.
        """
        found = None
        if self._tells_window:
            found = await find_window(self._memory, await self._model_name())
            self._tells_window = found is not None  # asking costs four requests: once is enough
        sizes = (found, self._context_tokens, self.calibration.limit)
        return min((size for size in sizes if size), default=WINDOW_IF_UNKNOWN)

    async def acount(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> int | None:
        """The tokens of a prompt as the server counts them; None where it does not say (all but llama.cpp)."""
        if not await self._serves_llamacpp():
            return None
        return await count_tokens(self._endpoint, list(messages), list(tools))

    async def asupports_tools(self) -> bool | None:
        """Whether the model's chat template takes tools; None where the server does not say."""
        if self.calibration.refuses_tools:
            return False
        model = await self._model_name()
        if model not in self._takes_tools:
            self._takes_tools[model] = await knows_tools(self._memory, model)
        return self._takes_tools[model]

    async def aslots(self) -> int:
        """How many requests the server works on at once; 1 where it does not say."""
        return await count_slots(self._memory)

    def models(self) -> list[str]:
        """`amodels`, for callers that are not async."""
        return run(self.amodels())

    def find_model(self) -> str:
        """`afind_model`, for callers that are not async."""
        return run(self.afind_model())

    def window(self) -> int:
        """`awindow`, for callers that are not async."""
        return run(self.awindow())

    def supports_tools(self) -> bool | None:
        """`asupports_tools`, for callers that are not async."""
        return run(self.asupports_tools())

    def slots(self) -> int:
        """`aslots`, for callers that are not async."""
        return run(self.aslots())

    async def _chunks(self, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The endpoint's chunks, asked for again without a field that the server turns out to refuse."""
        while True:
            for name in self._refused:
                if name == "max_tokens" and name in body:
                    body["max_completion_tokens"] = body[name]
                body.pop(name, None)
            if self._wants_plain_roles:
                body["messages"] = plain_roles(body["messages"])
            try:
                async with aclosing(self._endpoint.chunks(body)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
            except ChatError as error:
                if not self._wants_plain_roles and wants_plain_roles(str(error)):
                    log.info("%s takes no system role; asking in plain turns", self.base_url)
                    self._wants_plain_roles = True
                    continue
                refused = _refused_fields(error, body)
                if not refused:
                    raise
                log.info("%s refuses %s; asking without", self.base_url, ", ".join(sorted(refused)))
                self._refused |= refused

    async def _defaults(self) -> dict[str, Any]:
        """What each request says beside the conversation."""
        model = await self._model_name()
        defaults: dict[str, Any] = {"model": model, "stream_options": {"include_usage": True}}
        if await self._serves_llamacpp():
            defaults.update(return_progress=True, cache_prompt=True)
        return defaults

    async def _serves_llamacpp(self) -> bool:
        self._is_llamacpp = self._is_llamacpp or await is_llamacpp(self._memory)
        return self._is_llamacpp

    async def _model_name(self) -> str:
        if self.model is None:
            names = await self.amodels()
            if not names:
                raise ModelNotFound(
                    f"The server at {self.base_url} has no model to chat with: load one into it "
                    "(Ollama: ollama pull NAME), or name one with --model."
                )
            self.model = names[0]
        return self.model


def _refused_fields(error: ChatError, body: Mapping[str, Any]) -> set[str]:
    """The optional fields of `body` that a refusal names."""
    if error.status not in (400, 422):
        return set()
    message = str(error)
    refused = {name for name in _OPTIONAL if name in body and name in message}
    if "max_completion_tokens" in message and "max_tokens" in body:
        refused.add("max_tokens")
    return refused
