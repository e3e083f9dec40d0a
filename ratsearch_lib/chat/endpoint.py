"""HTTP to one chat server: what is sent to it, and what it may do wrong."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from . import failures
from .address import is_loopback, normalise_base_url, server_root

if TYPE_CHECKING:
    import httpx2
    import openai

CONNECT_TIMEOUT_S = 5.0
INFO_TIMEOUT_S = 10.0  # for what a server says of itself
MAX_ERROR_BYTES = 1_000_000

_OUR_HEADERS = frozenset(
    [
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "content-type",
        "content-length",
        "transfer-encoding",
        "user-agent",
    ]
)


class Endpoint:
    """One server's address and key, and requests to it. Usable from several event loops.

    Connections are not kept alive: a local server may close one at any time (18 of 450 requests failed so).
    """

    def __init__(self, address: str, api_key: str | None, *, timeout_s: float, headers: Mapping[str, str] = {}):
        self.base_url = normalise_base_url(address)
        self.root_url = server_root(self.base_url)
        self.timeout_s = timeout_s
        self._api_key = api_key or None
        self._headers = dict(headers)
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, openai.AsyncOpenAI]
        self._clients = weakref.WeakKeyDictionary()

    async def chunks(self, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The chunks of the reply to a chat completion request. Errors of our tree, all of them `ChatError`s."""
        import openai

        client = self._client()
        try:
            response = await client.post(
                "/chat/completions", cast_to=object, body=body, stream=True, stream_cls=openai.AsyncStream[object]
            )
            async with response:
                content_type = response.response.headers.get("content-type", "")
                if "json" in content_type and "stream" not in content_type:
                    yield self._whole(await response.response.aread(), body)
                    return
                if "html" in content_type:
                    raise failures.not_a_stream(self.base_url, "it sent a web page")
                async with aclosing(aiter(response)) as events:
                    async for event in events:
                        if not isinstance(event, dict):
                            raise ValueError("an event that is no JSON object")
                        yield event
        except (openai.APIError, ValueError, RecursionError) as error:
            raise self._failure(error, body) from None

    async def info(self, path: str, *, json: Any = None) -> Any:
        """The JSON at `path` under the server's root (POST if `json` is given); None where there is none.

        Raises what keeps the whole server from answering: ServerUnreachable, ServerLoading, AuthenticationFailed.
        """
        import httpx2

        url = path if "://" in path else self.root_url + path
        client = self._client()._client  # the plain HTTP client below, with our headers and timeouts
        try:
            response = await client.request(
                "GET" if json is None else "POST", url, json=json, timeout=httpx2.Timeout(INFO_TIMEOUT_S)
            )
            value = response.json()
        except httpx2.ConnectError as error:
            raise failures.unreachable(self.base_url, _reason(error)) from None
        except (httpx2.HTTPError, ValueError, RecursionError):
            return None
        if response.status_code in (401, 403, 503):
            raise failures.failure(self.base_url, response.status_code, value, key=self._api_key)
        return value if response.status_code == 200 else None

    def _client(self) -> openai.AsyncOpenAI:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._new_client()
        return client

    def _new_client(self) -> openai.AsyncOpenAI:
        import httpx2
        import openai

        http = httpx2.AsyncClient(
            timeout=httpx2.Timeout(self.timeout_s, connect=CONNECT_TIMEOUT_S, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
            follow_redirects=False,  # the key goes to the address it was given for
            trust_env=not is_loopback(self.base_url),
            event_hooks={"request": [self._only_our_headers]},
        )
        # What is given here only keeps openai from looking into the environment: see _only_our_headers.
        return openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key="none",
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            max_retries=0,
            timeout=http.timeout,
            http_client=http,
        )

    async def _only_our_headers(self, request: httpx2.Request) -> None:
        """Drop what openai adds (the environment's OPENAI_CUSTOM_HEADERS, a description of this machine)."""
        for name in list(request.headers):
            if name.lower() not in _OUR_HEADERS:
                del request.headers[name]
        request.headers["user-agent"] = "ratsearch"
        if self._api_key:
            request.headers["authorization"] = f"Bearer {self._api_key}"
        request.headers.update(self._headers)

    def _whole(self, content: bytes, body: Mapping[str, Any]) -> dict[str, Any]:
        """The completion of a server that answers at once instead of streaming."""
        import json

        value = json.loads(content)
        if not isinstance(value, dict):
            raise ValueError("an answer that is no JSON object")
        if value.get("error"):
            raise failures.failure(self.base_url, None, value["error"], key=self._api_key, model=body.get("model"))
        return value

    def _failure(self, error: Exception, body: Mapping[str, Any]) -> Exception:
        import httpx2
        import openai

        where, cause = self.base_url, error.__cause__
        if isinstance(error, openai.APIStatusError):
            return failures.failure(
                where, error.status_code, error.body or error.response.text, key=self._api_key, model=body.get("model")
            )
        if isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout)):
            return failures.unreachable(where, _reason(cause))
        if isinstance(error, openai.APITimeoutError):
            return failures.silent(where, self.timeout_s)
        if isinstance(error, openai.APIConnectionError):
            return failures.broken_off(where, _reason(cause))
        if isinstance(error, openai.APIError):  # an error event within the stream
            return failures.failure(where, None, error.body, key=self._api_key, model=body.get("model"))
        return failures.not_a_stream(where, "it sent something that is not JSON")


def _reason(error: BaseException | None) -> str:
    return str(error) or type(error).__name__
