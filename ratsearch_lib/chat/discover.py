"""Chat servers that already run on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import AuthenticationFailed, ChatError, ServerLoading
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


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A chat server on this machine: ready if neither `is_loading` nor `wants_key`."""

    base_url: str
    is_loading: bool = False
    wants_key: bool = False


def find_server(candidates: Sequence[str] = CANDIDATES) -> str | None:
    """The base URL of the first of `candidates` where a chat server answers, or None. See `find_servers`."""
    return next((server.base_url for server in find_servers(candidates) if not server.wants_key), None)


def find_servers(candidates: Sequence[str] = CANDIDATES) -> list[FoundServer]:
    """The `candidates` where chat servers answer, in their order; all are asked at once.

    A server counts if it lists a model that can chat, says that it still loads one, or wants a key for its list:
    other web servers like these ports too.
    """
    return run(_find(candidates))


async def _find(candidates: Sequence[str]) -> list[FoundServer]:
    answers = await asyncio.gather(*map(_ask, candidates))
    return [answer for answer in answers if answer]


async def _ask(address: str) -> FoundServer | None:
    endpoint = Endpoint(address, connect_timeout_s=CONNECT_TIMEOUT_S, info_timeout_s=ANSWER_TIMEOUT_S)
    try:
        return FoundServer(address) if await list_models(endpoint) else None
    except ServerLoading:
        return FoundServer(address, is_loading=True)
    except AuthenticationFailed as error:
        return FoundServer(address, wants_key=True) if error.status == 401 else None
    except ChatError:
        return None
