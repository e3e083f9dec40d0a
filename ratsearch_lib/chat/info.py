"""What a server says of itself: its models, their context window, whether they take tools."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..errors import ChatError, ModelNotFound
from . import failures
from .endpoint import Endpoint
from .memory import NO_SUCH_PATH, Memory

WINDOW_IF_UNKNOWN = 4096  # tokens: what Ollama and LM Studio serve unless told otherwise
SLOTS_IF_UNKNOWN = 1
SOME_MODELS = 5  # that an error names

# Names under which servers list what cannot chat beside what can.
_NO_CHAT = re.compile(r"embed|rerank|\bbge-|\be5-|\bgte-|minilm|whisper|tts|dall-e|moderation|transcribe|-image", re.I)


async def list_models(endpoint: Endpoint, *, all: bool = False) -> list[str]:
    """The names of the models that the server lists, those that cannot chat left out unless `all` are wanted.

    Raises a `ChatError`.
    """
    listing = await endpoint.info(f"{endpoint.base_url}/models", required=True)
    entries = _mapping(listing).get("data")
    if not isinstance(entries, list):
        raise failures.not_a_chat_server(endpoint.base_url, "it lists no models")
    names = [_mapping(entry).get("id") for entry in entries]
    return [name for name in names if isinstance(name, str) and (all or not _NO_CHAT.search(name))]


async def find_model(endpoint: Endpoint, model: str) -> str:
    """`model` as the server lists it. ModelNotFound if it lists others only; where it lists none, `model` is trusted.

    Asked for because llama.cpp answers to any name, with the model that it has.
    """
    try:
        names = await list_models(endpoint, all=True)
    except ChatError as error:
        if error.status not in NO_SUCH_PATH:
            raise
        names = []  # a chat server without such a list
    if not names:
        return model
    if found := listed_name(model, names):
        return found
    some = ", ".join(names[:SOME_MODELS]) + (", …" if len(names) > SOME_MODELS else "")
    raise ModelNotFound(
        f"The server at {endpoint.base_url} does not serve the model {model!r}: choose another with --model. "
        f"It has: {failures.server_words(some)}"
    )


def listed_name(model: str, names: Sequence[str]) -> str | None:
    """`model` as it stands in the list of a server's `names`, which may leave out what everybody adds, or add it.

    >>> listed_name("qwen3", ["qwen3:8b", "qwen3:latest"])
    'qwen3:latest'
    """
    for name in (model, f"{model}:latest", f"models/{model}"):  # Ollama's tag, Gemini's folder
        if name in names:
            return name
    base, colon, _ = model.rpartition(":")
    return model if colon and "/" in base and base in names else None  # OpenRouter's variants: maker/model:free


async def is_llamacpp(endpoint: Endpoint | Memory) -> bool:
    """Whether it is llama.cpp's server, whose requests take more fields than others'."""
    return "default_generation_settings" in _mapping(await endpoint.info("/props"))


async def count_slots(endpoint: Endpoint | Memory) -> int:
    """How many requests the server works on at once: llama.cpp tells it at /props; else SLOTS_IF_UNKNOWN."""
    return _count(_mapping(await endpoint.info("/props")).get("total_slots")) or SLOTS_IF_UNKNOWN


async def count_tokens(endpoint: Endpoint, messages: Any, tools: Any) -> int | None:
    """The tokens of a prompt by llama.cpp's own tokenizer and chat template; None where it does not say."""
    body = {"messages": messages, **({"tools": tools} if tools else {})}
    if found := _count(
        _mapping(await endpoint.info("/v1/chat/completions/input_tokens", body=body)).get("input_tokens")
    ):
        return found
    prompt = _mapping(await endpoint.info("/apply-template", body=body)).get("prompt")
    if not isinstance(prompt, str):
        return None
    request = {"content": prompt, "add_special": True, "parse_special": True}
    tokens = _mapping(await endpoint.info("/tokenize", body=request)).get("tokens")
    return len(tokens) if isinstance(tokens, list) and tokens else None


async def find_window(endpoint: Endpoint | Memory, model: str) -> int | None:
    """The context window of `model` in tokens: what the server runs it with, not what it was trained for.

    llama.cpp tells it at /props, vLLM and others in /v1/models, LM Studio at /api/v0/models, Ollama at /api/ps
    once the model is loaded and at /api/show before. None where the server does not say.
    """
    props = _mapping(await endpoint.info("/props"))
    settings = _mapping(props.get("default_generation_settings"))
    if found := _count(settings.get("n_ctx")):
        return found
    listed = _entry(await endpoint.info(f"{endpoint.base_url}/models"), model)
    for name in ("max_model_len", "context_length", "context_window"):
        if found := _count(listed.get(name)):
            return found
    if found := _count(_mapping(listed.get("meta")).get("n_ctx")):
        return found
    if found := _count(_entry(await endpoint.info("/api/v0/models"), model).get("loaded_context_length")):
        return found
    if loaded := _mapping(await endpoint.info("/api/ps")):
        return await _ollama_window(endpoint, model, loaded)
    return None


async def _ollama_window(endpoint: Endpoint | Memory, model: str, loaded: dict[str, Any]) -> int:
    entries = loaded.get("models")
    for entry in map(_mapping, entries if isinstance(entries, list) else []):
        found = _count(entry.get("context_length"))
        if found and model in (entry.get("model"), entry.get("name")):
            return found
    shown = _mapping(await endpoint.info("/api/show", body={"model": model}))
    parameters = shown.get("parameters")
    match = re.search(r"^num_ctx\s+(\d+)", parameters, re.M) if isinstance(parameters, str) else None
    return int(match[1]) if match else WINDOW_IF_UNKNOWN


async def knows_tools(endpoint: Endpoint | Memory, model: str) -> bool | None:
    """Whether the chat template of `model` takes tools, by llama.cpp, Ollama or LM Studio; None: not said."""
    props = _mapping(await endpoint.info("/props"))
    if props:
        answer = _mapping(props.get("chat_template_caps")).get("supports_tools")
        return answer if isinstance(answer, bool) else None
    capabilities = _mapping(await endpoint.info("/api/show", body={"model": model})).get("capabilities")
    if isinstance(capabilities, list):
        return "tools" in capabilities
    # LM Studio lists what a model was trained for, and offers tools to the others by prompting.
    capabilities = _entry(await endpoint.info("/api/v0/models"), model).get("capabilities")
    return True if isinstance(capabilities, list) and "tool_use" in capabilities else None


def _entry(listing: Any, model: str) -> dict[str, Any]:
    """The entry of `model` in an OpenAI-style list of models."""
    entries = _mapping(listing).get("data")
    for entry in entries if isinstance(entries, list) else []:
        if _mapping(entry).get("id") == model:
            return entry
    return {}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
