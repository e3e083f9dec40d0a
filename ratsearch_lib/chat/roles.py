"""Conversations for chat templates that know two roles only, user and assistant, by turns."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_STRICT = re.compile(
    r"roles? must alternate|system (role|message|prompt)s? (is |are )?not supported|only user.{0,20}assistant roles",
    re.I,
)


def wants_plain_roles(said: str) -> bool:
    """Whether a server's refusal means its template: no system role, or two messages of one role in a row.

    >>> wants_plain_roles("Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...")
    True
    """
    return bool(_STRICT.search(said))


def plain_roles(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same conversation as messages of user and assistant by turns, which any template takes.

    >>> plain_roles([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    [{'role': 'user', 'content': 'Be brief.\\n\\nHi'}]
    """
    plain: list[dict[str, Any]] = []
    for message in messages:
        role, content = message["role"], message.get("content") or ""
        calls = [
            json.dumps({"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])})
            for call in message.get("tool_calls") or ()
        ]
        content = "\n".join(filter(None, [content, *calls])) if calls else content
        role = "assistant" if role == "assistant" else "user"
        if plain and plain[-1]["role"] == role and isinstance(content, str):
            plain[-1]["content"] = "\n\n".join(filter(None, (plain[-1]["content"], content)))
        else:
            plain.append({"role": role, "content": content})
    return plain
