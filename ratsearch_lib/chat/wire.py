"""JSON to and from chat servers. Whatever a server sends becomes a `Delta`; nothing in it may raise."""

from __future__ import annotations

import json
from typing import Any

from .delta import Delta, ToolCallDelta


def read_chunk(chunk: dict[str, Any]) -> Delta:
    """One chunk of a stream (or a whole completion, from a server that does not stream) as a `Delta`.

    >>> delta = read_chunk({"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]})
    >>> delta.text, delta.finish_reason
    ('Hi', 'stop')
    """
    choices = chunk.get("choices")
    choice = _mapping(choices[0] if isinstance(choices, list) and choices else None)
    message = _mapping(choice.get("delta") or choice.get("message"))
    finish_reason = choice.get("finish_reason")
    return Delta(
        text=_text(message.get("content")),
        # llama.cpp, DeepSeek, vLLM and LM Studio say the first, Ollama, OpenRouter and newer vLLM the second.
        reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
        tool_calls=_tool_calls(message.get("tool_calls")),
        prefill=_pair(chunk.get("prompt_progress"), "processed", "total"),
        finish_reason=finish_reason if isinstance(finish_reason, str) and finish_reason else None,
        usage=_pair(chunk.get("usage"), "prompt_tokens", "completion_tokens"),
        n_generated=_count(_mapping(chunk.get("timings")).get("predicted_n")),
    )


def encodable(body: dict[str, Any]) -> dict[str, Any]:
    """`body` without halves of surrogate pairs, which UTF-8 cannot hold: terminals make them of bytes they cannot read.

    >>> encodable({"content": "caf\\udce9"})
    {'content': 'caf\ufffd'}
    """
    text = json.dumps(body, ensure_ascii=False)
    clean = _whole_characters(text)
    return body if clean == text else json.loads(clean)


def encode(body: dict[str, Any]) -> bytes:
    """`body` as JSON in UTF-8, as `encodable` has it.

    >>> encode({"content": "caf\\udce9"})
    b'{"content": "caf\\xef\\xbf\\xbd"}'
    """
    return _whole_characters(json.dumps(body, ensure_ascii=False)).encode()


def _whole_characters(text: str) -> str:
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _tool_calls(value: Any) -> tuple[ToolCallDelta, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(_tool_call(call, position) for position, call in enumerate(value) if isinstance(call, dict))


def _tool_call(call: dict[str, Any], position: int) -> ToolCallDelta:
    function = _mapping(call.get("function"))
    arguments = function.get("arguments")
    if isinstance(arguments, (dict, list)):
        arguments = json.dumps(arguments, ensure_ascii=False)
    index = _count(call.get("index"))
    return ToolCallDelta(
        index=position if index is None else index,
        id=_text(call.get("id")),
        name=_text(function.get("name")),
        arguments=_text(arguments),
    )


def _text(value: Any) -> str:
    """A string, or the strings of a list of content parts."""
    if isinstance(value, str):
        return _whole_characters(value)
    if isinstance(value, list):
        return "".join(_text(_mapping(part).get("text")) for part in value)
    return ""


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _pair(value: Any, first: str, second: str) -> tuple[int, int] | None:
    if not isinstance(value, dict):
        return None
    counts = _count(value.get(first)), _count(value.get(second))
    return None if None in counts else counts
