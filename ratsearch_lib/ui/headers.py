"""What the page tells the browser to refuse, and who may ask."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Gradio's own page needs inline scripts and eval; nothing may come from, or go to, another address.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-src 'self'; object-src 'none'; "
    "form-action 'none'; base-uri 'self'"
)

# Of Gradio's own, which the page does not use: both write to this machine's disk for whoever asks.
SHUT = ("/gradio_api/upload", "/gradio_api/deep_link")


def is_foreign(headers: Mapping[str, str]) -> bool:
    """Whether a page of another origin asks: Gradio answers those wherever its own name is not localhost.

    >>> is_foreign({"origin": "http://evil.example", "host": "192.0.2.1:7860"}), is_foreign({"host": "192.0.2.1:7860"})
    (True, False)
    """
    origin = headers.get("origin")
    if origin is None:
        return False
    if site := headers.get("sec-fetch-site"):  # the browser's word, which holds behind a proxy, too
        return site in ("cross-site", "same-site")
    return origin.partition("://")[2] not in (headers.get("host"), headers.get("x-forwarded-host"))


def frame_policy(scope, prefix: str) -> str:
    """The policy of pages that are not ours: no script, and nothing but pictures, styles and fonts below `prefix`."""
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    ours = host + prefix if re.fullmatch(r"[A-Za-z0-9.-]+(:\d+)?", host) else "'self'"
    return (
        f"default-src 'none'; img-src {ours} data:; media-src {ours}; font-src {ours} data:; "
        f"style-src {ours} 'unsafe-inline'; form-action 'none'; base-uri 'self'; frame-ancestors 'self'; "
        "sandbox allow-same-origin"  # so that the page can scroll it; no script runs in it
    )


def is_logged_in(scope) -> bool:
    """Whether whoever asks may see the page: everyone, unless it was started with --auth."""
    from starlette.requests import Request

    app = scope["app"]
    if app.auth is None:
        return True
    cookies = Request(scope).cookies
    names = (f"access-token-{app.cookie_id}", f"access-token-unsecure-{app.cookie_id}")
    return any(cookies.get(name) in app.tokens for name in names)


class OwnPageOnly:
    """ASGI middleware that refuses what pages of others ask, and what is `SHUT`."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        from starlette.datastructures import Headers
        from starlette.responses import PlainTextResponse

        if scope["type"] == "http" and (scope["path"].startswith(SHUT) or is_foreign(Headers(scope=scope))):
            await PlainTextResponse("Only the page itself may ask this.", 403)(scope, receive, send)
            return
        await self.app(scope, receive, send)


class SecurityHeaders:
    """ASGI middleware that adds them to every response, and buffers none: answers are streamed."""

    headers = ((b"content-security-policy", CONTENT_SECURITY_POLICY.encode()), (b"referrer-policy", b"no-referrer"))

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        async def send_with_headers(message):
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self.headers]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)
