"""What goes wrong with a chat server, as errors of our tree: one clear sentence, and what to do."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

from ..errors import (
    AuthenticationFailed,
    BadReply,
    ChatError,
    ContextOverflow,
    ModelNotFound,
    ServerLoading,
    ServerUnreachable,
)

# llama.cpp, OpenAI, vLLM, LM Studio, Ollama, text-generation-inference; each in its own words.
_OVERFLOW = re.compile(
    r"exceed_context_size|context_length_exceeded|exceeds? the (available |maximum |model's )*context"
    r"|maximum context length|context the overflows|context length of only|greater than the context length"
    r"|longer than the maximum model length|input length exceeds|prompt is too long|exceeds? (the )?max(imum)? context"
    r"|max_new_tokens. must be <=|reduce the length of the (messages|prompt)|context window.{0,20}exceeded",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"model.{0,200}(not[ _]found|does not exist|not exist|unknown)|model_not_found", re.I | re.S)
# Ollama, vLLM and SGLang, llama.cpp without --jinja, OpenRouter.
_NO_TOOLS = re.compile(
    r"not support (tools|tool use|tool call|function call)|tool choice requires|tool-call-parser|requires --jinja"
    r"|support tool use|tools? (is|are) not supported|unsupported param: tools",
    re.I,
)
# llama.cpp could not read what the model wrote; the next try may go well.
_UNREADABLE = re.compile(r"does not match the expected|failed to parse input|failed to parse messages", re.I)
_MAX_CHARS = 300
_SEARCHED_CHARS = 10_000


def failure(
    where: str,
    status: int | None,
    body: Any,
    *,
    key: str | None = None,
    secrets: Sequence[str] = (),
    model: str | None = None,
) -> ChatError:
    """The error for an HTTP `status` other than 200, or for an error event within a stream (None).

    `where` names the server, `body` is its JSON or text; `key` and `secrets` are kept out of the message.
    """
    said = server_words(body, [*secrets, key] if key else secrets)
    if status is None and isinstance(body, dict) and isinstance(body.get("code"), int):
        status = body["code"]
    kind, message = _explain(where, status, f"{said} {json.dumps(body, default=str)}"[:_SEARCHED_CHARS], key, model)
    return kind(f"{message} It says: {said}" if said else message, status=status)


def _explain(
    where: str, status: int | None, search: str, key: str | None, model: str | None
) -> tuple[type[ChatError], str]:
    """The kind of failure, and what to do about it."""
    server = f"The server at {where}"
    if _OVERFLOW.search(search):
        return ContextOverflow, (
            f"The conversation is longer than the model's context window at {where}: start a new one, or start the "
            "server with more context (llama.cpp: -c 16384, Ollama: OLLAMA_CONTEXT_LENGTH=16384)."
        )
    if status in (401, 403):
        wants = "refuses the API key" if key else "wants an API key"
        return AuthenticationFailed, f"{server} {wants}: set OPENAI_API_KEY to the right one."
    if status == 503:
        return ServerLoading, f"{server} is not ready yet: try again in a moment."
    if status in (None, 400, 404) and _NO_MODEL.search(search):
        return ModelNotFound, f"{server} does not serve the model {model!r}: choose another with --model."
    if status == 429:
        return ChatError, f"{server} takes no more requests for now: wait, and try again."
    if status in (404, 405) or (status is not None and 300 <= status < 400):
        return BadReply, (
            f"Something answers at {where}, but not as a chat server (HTTP {status}): check the address, which mostly "
            "ends in /v1."
        )
    number = "" if status is None else f" (HTTP {status})"
    return ChatError, f"{server} reports an error{number}: try again, or look at its log."


def refuses_tools(error: ChatError) -> bool:
    """Whether the server cannot pass tools on to this model."""
    return error.status in (400, 404, 422, 500, 501) and bool(_NO_TOOLS.search(str(error)))


def is_models_fault(error: ChatError) -> bool:
    """Whether the server works, and only could not read what its model wrote."""
    return error.status == 500 and bool(_UNREADABLE.search(str(error)))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long a server asks to be left alone: in milliseconds, in seconds, or until a date.

    >>> retry_after_s({"retry-after": "20"})
    20.0
    """
    try:
        seconds = (
            float(headers["retry-after-ms"]) / 1000 if "retry-after-ms" in headers else float(headers["retry-after"])
        )
        return max(0.0, seconds) if math.isfinite(seconds) else None
    except KeyError:
        return None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    except (KeyError, ValueError, OverflowError):
        return None


def server_words(body: Any, secrets: Sequence[str] = ()) -> str:
    """The server's own sentence out of an error body, short, on one line and without the `secrets`."""
    text = body
    if isinstance(body, dict):
        error = body.get("error", body)
        text = error
        if isinstance(error, dict):
            text = error.get("message") or error.get("detail") or error
    if not isinstance(text, str):
        text = json.dumps(text, default=str) if text else ""
    if re.match(r"\s*<(!doctype|html|\?xml)", text, re.I):
        return ""  # a page for people: nothing to quote
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    text = redact(text, secrets)
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"


def redact(text: str, secrets: Sequence[str]) -> str:
    """`text` without the `secrets`.

    >>> redact("bad key sk-123", ["sk-123"])
    'bad key [key]'
    """
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return text


def unreachable(where: str, reason: str) -> ServerUnreachable:
    hint = " (an http:// address, perhaps)" if "ssl" in reason.lower() and "https://" in where else ""
    return ServerUnreachable(
        f"Nothing answers at {where}{hint}: start the server, or give its address with --endpoint. ({reason})"
    )


def bad_proxy(variable: str) -> ServerUnreachable:
    return ServerUnreachable(
        f"The environment's proxy setting {variable} cannot be used: set it to the address of an HTTP proxy, such as "
        "http://proxy:3128, or unset it."
    )


def bad_certificates(variable: str, reason: str) -> ServerUnreachable:
    return ServerUnreachable(
        f"The environment's certificate setting {variable} cannot be used: set it to the right file, or unset it. "
        f"({reason})"
    )


def broken_off(where: str, reason: str) -> BadReply:
    return BadReply(f"The server at {where} broke off its reply: ask again, or look at its log. ({reason})")


def not_a_chat_server(where: str, reason: str) -> BadReply:
    return BadReply(f"The server at {where} does not answer as a chat server: check the address. ({reason})")


def silent(where: str, timeout_s: float) -> BadReply:
    return BadReply(
        f"The server at {where} sent nothing for {timeout_s:.0f} s: it may be overloaded; restart it, or ask again."
    )
