"""What the page tells the browser to refuse."""

from __future__ import annotations

# Gradio's own page needs inline scripts and eval; nothing may come from, or go to, another address.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-src 'none'; object-src 'none'; "
    "form-action 'none'; base-uri 'self'"
)


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
