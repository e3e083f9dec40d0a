"""HTTP to one chat server: what is sent to it, and what it may do wrong."""

from __future__ import annotations

import asyncio
import json
import os
import re
import weakref
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from ..errors import AuthenticationFailed, ChatError
from . import failures
from .address import is_loopback, normalise_base_url, server_root
from .proxies import check_proxies
from .sse import event_data
from .wire import encodable, encode

if TYPE_CHECKING:
    import httpx2

_SECRET_CHARS = 8  # of a header's value, from which on it is taken for a secret
_OUR_HEADERS = {"host", "accept", "accept-encoding", "connection", "content-type", "content-length"}


class Endpoint:
    """One server's address and key, and requests to it. Usable from several event loops.

    Connections are not kept alive: a local server may close one at any time (18 of 450 requests failed so).
    """

    def __init__(
        self,
        address: str,
        api_key: str | None = None,
        *,
        timeout_s: float = 900.0,
        info_timeout_s: float = 10.0,
        connect_timeout_s: float = 5.0,
        headers: Mapping[str, str] | None = None,
    ):
        self.base_url = normalise_base_url(address)
        self.root_url = server_root(self.base_url)
        self._timeout_s, self._info_timeout_s, self._connect_timeout_s = timeout_s, info_timeout_s, connect_timeout_s
        self._api_key = _header_value("The API key", api_key or "", "[!-~]*") or None
        self._headers = {name: _header_value(f"The header {name}", text) for name, text in (headers or {}).items()}
        self._secrets = [text.split()[-1] for text in self._headers.values() if len(text) >= _SECRET_CHARS]
        self._secrets.extend([self._api_key] if self._api_key else [])
        # A client's connections belong to the loop that made it.
        self._http_clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient]
        self._http_clients = weakref.WeakKeyDictionary()

    def redact(self, text: str) -> str:
        """`text` without the key and the headers' secrets; words that are short enough to be just words stay."""
        return failures.redact(text, [secret for secret in self._secrets if len(secret) >= _SECRET_CHARS])

    async def chunks(self, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The chunks of the reply to a chat completion request. Raises a `ChatError`."""
        import httpx2

        url, headers = f"{self.base_url}/chat/completions", {"content-type": "application/json"}
        try:
            async with self._http().stream("POST", url, content=encode(body), headers=headers) as response:
                if not response.is_success:
                    raise self._refused(await response.aread(), response, body)
                content_type = response.headers.get("content-type", "")
                if "json" in content_type and "stream" not in content_type:
                    yield self._whole(await response.aread(), body)
                    return
                if "html" in content_type:
                    raise failures.not_a_chat_server(self.base_url, "it sent a web page")
                async with aclosing(event_data(response.aiter_bytes())) as events:
                    async for data in events:
                        if data.startswith(b"[DONE]"):
                            return
                        event = json.loads(data)
                        if not isinstance(event, dict):
                            raise ValueError("an event that is no JSON object")
                        if event.get("error"):
                            raise self._reported(event["error"], body)
                        if event.get("object") == "error":  # older vLLM
                            raise self._reported(event, body)
                        yield event
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as error:
            raise self._failure(error) from None

    async def info(self, path: str, *, body: Any = None, required: bool = False, timeout_s: float | None = None) -> Any:
        """The JSON at `path` under the server's root (POST if there is a `body`); None where there is none.

        Raises what keeps the whole server from answering (ServerUnreachable, ServerLoading, AuthenticationFailed)
        and, if this answer is `required`, some `ChatError` instead of None.
        """
        import httpx2

        url = path if "://" in path else self.root_url + path
        body = None if body is None else encodable(body)
        timeout_s = min(timeout_s or self._info_timeout_s, self._info_timeout_s)
        timeout = httpx2.Timeout(timeout_s, connect=self._connect_timeout_s)
        try:
            response = await self._http().request("GET" if body is None else "POST", url, json=body, timeout=timeout)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL) as error:
            raise failures.unreachable(self.base_url, self._reason(error)) from None
        except httpx2.TimeoutException:
            problem: ChatError = failures.silent(self.base_url, timeout_s)
        except httpx2.HTTPError as error:
            problem = failures.broken_off(self.base_url, self._reason(error))
        else:
            try:
                value = response.json()
            except (ValueError, RecursionError):
                value = None
            if response.status_code == 200 and value is not None:
                return value
            if response.status_code == 200:
                problem = failures.not_a_chat_server(self.base_url, "it sent something that is not JSON")
            else:
                problem = self._reported(value, {}, response.status_code)
                problem.retry_after_s = failures.retry_after_s(response.headers)
                required = required or response.status_code in (401, 403, 503)
        if required:
            raise problem
        return None

    def _http(self) -> httpx2.AsyncClient:
        import httpx2

        loop = asyncio.get_running_loop()
        if loop not in self._http_clients:
            local = is_loopback(self.base_url)
            if not local:
                check_proxies()
            try:
                self._http_clients[loop] = httpx2.AsyncClient(
                    timeout=httpx2.Timeout(self._timeout_s, connect=self._connect_timeout_s, pool=None),
                    limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
                    follow_redirects=False,  # the key goes to the address it was given for
                    trust_env=not local,  # proxies
                    verify=not (local and self.base_url.startswith("http:")),  # loading certificates takes 80 ms
                    event_hooks={"request": [self._only_our_headers]},
                )
            except OSError as error:  # only the second has the file's name in its error
                variable = "SSLKEYLOGFILE" if error.filename else "SSL_CERT_FILE"
                raise failures.bad_certificates(variable, self._reason(error)) from None
        return self._http_clients[loop]

    async def _only_our_headers(self, request: httpx2.Request) -> None:
        """Drop what httpx2 adds: what it is, and what the environment's .netrc holds."""
        for name in list(request.headers):
            if name.lower() not in _OUR_HEADERS:
                del request.headers[name]
        request.headers["user-agent"] = "ratsearch"
        request.headers["connection"] = "close"
        if self._api_key:
            request.headers["authorization"] = f"Bearer {self._api_key}"
        request.headers.update(self._headers)

    def _whole(self, content: bytes, body: Mapping[str, Any]) -> dict[str, Any]:
        """The completion of a server that answers at once instead of streaming."""
        value = json.loads(content)
        if not isinstance(value, dict):
            raise ValueError("an answer that is no JSON object")
        if value.get("error"):
            raise self._reported(value["error"], body)
        return value

    def _reported(self, error: Any, body: Mapping[str, Any], status: int | None = None) -> ChatError:
        return failures.failure(
            self.base_url, status, error, key=self._api_key, secrets=self._secrets, model=body.get("model")
        )

    def _refused(self, content: bytes, response: httpx2.Response, body: Mapping[str, Any]) -> ChatError:
        """A status other than 200."""
        try:
            said = json.loads(content)
        except (ValueError, RecursionError):
            said = content.decode("utf-8", "replace")
        if isinstance(said, dict) and said.get("error"):
            said = said["error"]
        problem = self._reported(said, body, response.status_code)
        problem.retry_after_s = failures.retry_after_s(response.headers)
        return problem

    def _failure(self, error: Exception) -> ChatError:
        import httpx2

        where = self.base_url
        if isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL)):
            return failures.unreachable(where, self._reason(error))
        if isinstance(error, httpx2.TimeoutException):
            return failures.silent(where, self._timeout_s)
        if isinstance(error, httpx2.HTTPError):
            return failures.broken_off(where, self._reason(error))
        return failures.not_a_chat_server(where, "it sent something that is not JSON")

    def _reason(self, error: BaseException) -> str:
        return failures.redact(_reason(error), self._secrets)


def _header_value(what: str, text: str, allowed: str = "[ -~]*") -> str:
    """`text` without the white space that copying adds. AuthenticationFailed, which does not repeat it, if the rest
    could not be sent: a line end or a curly quotation mark got into it."""
    text = text.strip()
    if not re.fullmatch(allowed, text):
        raise AuthenticationFailed(f"{what} holds characters that no key has: copy it again from where it was given.")
    return text


def _reason(error: BaseException | None) -> str:
    """What the operating system said, underneath what each layer above made of it."""
    reason = str(error) or type(error).__name__
    while error is not None:
        if isinstance(error, OSError) and error.strerror:
            # asyncio puts a sentence of its own into refused connections
            reason = os.strerror(error.errno) if isinstance(error, ConnectionError) else error.strerror
        error = error.__cause__ or error.__context__
    return reason
