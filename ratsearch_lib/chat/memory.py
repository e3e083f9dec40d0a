"""What a server said of itself, remembered: the same questions would cost each turn of a chat several requests."""

from __future__ import annotations

import json
import time
from typing import Any

from ..errors import AuthenticationFailed, ChatError, ServerLoading, ServerUnreachable
from .endpoint import Endpoint

REMEMBERED_S = 60.0  # what may change: Ollama loads another model, somebody starts the server with more context
PROBE_TIMEOUT_S = 3.0  # these answers are wanted, not needed
NO_SUCH_PATH = (404, 405, 501)


class Memory:
    """An endpoint's `info`, asked once: for good where the server has no such path, else for REMEMBERED_S."""

    def __init__(self, endpoint: Endpoint):
        self.base_url = endpoint.base_url
        self._endpoint = endpoint
        self._answers: dict[str, tuple[float, Any]] = {}  # by path and body: until when, and what

    async def info(self, path: str, *, body: Any = None) -> Any:
        """The JSON at `path`; None where there is none. Raises what keeps the whole server from answering."""
        key = f"{path} {json.dumps(body)}"
        until, value = self._answers.get(key, (0.0, None))
        if time.monotonic() < until:
            return value
        until = time.monotonic() + REMEMBERED_S
        try:
            value = await self._endpoint.info(path, body=body, required=True, timeout_s=PROBE_TIMEOUT_S)
        except (ServerUnreachable, ServerLoading, AuthenticationFailed):
            self._answers.clear()  # it may come back as another one
            raise
        except ChatError as error:
            value = None
            if error.status in NO_SUCH_PATH:
                until = float("inf")
        self._answers[key] = until, value
        return value
