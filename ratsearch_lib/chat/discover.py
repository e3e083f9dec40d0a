"""Chat servers that already run on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ..errors import ChatError, ServerLoading
from .bridge import run
from .endpoint import Endpoint
from .info import list_models

# Where they listen unless told otherwise: llama.cpp, Ollama, LM Studio, vLLM.
CANDIDATES = (
    "http://127.0.0.1:8080/v1",
    "http://127.0.0.1:11434/v1",
    "http://127.0.0.1:1234/v1",
    "http://127.0.0.1:8000/v1",
)
CONNECT_TIMEOUT_S = 0.3  # Windows takes two seconds to find that a port is closed
ANSWER_TIMEOUT_S = 2.0


def find_server(candidates: Sequence[str] = CANDIDATES) -> str | None:
    """The base URL of the first of `candidates` where a chat server answers, or None.

    They are asked at once. A server counts if it lists a model that can chat, or says that it still loads one:
    other web servers like these ports too.
    """
    return run(_find(candidates))


async def _find(candidates: Sequence[str]) -> str | None:
    answers = await asyncio.gather(*(_is_chat_server(address) for address in candidates))
    return next((address for address, answer in zip(candidates, answers, strict=True) if answer), None)


async def _is_chat_server(address: str) -> bool:
    endpoint = Endpoint(address, connect_timeout_s=CONNECT_TIMEOUT_S, info_timeout_s=ANSWER_TIMEOUT_S)
    try:
        return bool(await list_models(endpoint))
    except ServerLoading:
        return True
    except ChatError:
        return False
