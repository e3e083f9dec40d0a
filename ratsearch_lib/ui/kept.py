"""Conversations as they are kept: in the browser, and in files that people export and import.

JSON: ``{"ratsearch": 1, "id", "turns": [{"question", "panels", "same", "messages"}]}``, where `messages` of the agent's
conversation follow the first `same` of the turn before. What comes back is foreign: a person may have been given the
file. So panels are drawn anew from their fields, and nothing is taken that does not look as it was written.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, get_args

from ..errors import RatsearchError
from ..evidence import SentenceEvidence, Verdict, cited
from ..evidence.answer import MAX_SENTENCES
from ..view import Panel
from .conversation import Turn
from .messages import MAX_RESULT_CHARS, code_span, fence

FORMAT = 1
KINDS = ("reasoning", "tool", "result", "answer", "notice", "error")
ROLES = ("user", "assistant", "tool")
MAX_TURNS, MAX_MESSAGES, MAX_PANELS = 1000, 10_000, 10_000


def to_json(id: str, turns: Sequence[Turn]) -> str:
    """A conversation to keep; a tool's long results stand in it once, as the model read them."""
    kept, before = [], []
    for turn in turns:
        same = 0
        while same < min(len(before), len(turn.messages)) and before[same] == turn.messages[same]:
            same += 1
        panels = [_panel_fields(panel) for panel in turn.panels if panel.kind in KINDS]
        kept.append({"question": turn.question, "panels": panels, "same": same, "messages": list(turn.messages[same:])})
        before = turn.messages
    text = json.dumps({"ratsearch": FORMAT, "id": id, "turns": kept}, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8")


def from_json(text: str) -> tuple[str, list[Turn]]:
    """The id and the turns of a conversation. RatsearchError where it is none."""
    try:
        kept = json.loads(text)
        if kept["ratsearch"] != FORMAT:
            raise RatsearchError("This conversation is of another version of ratsearch: it cannot be opened.")
        turns, before, panels = [], [], 0
        for each in _list(kept["turns"], MAX_TURNS):
            same = _whole(each["same"], len(before))
            messages = [*before[:same], *map(_message, _list(each["messages"], MAX_MESSAGES))]
            shown = [_panel(fields, number) for number, fields in enumerate(_list(each["panels"], MAX_PANELS))]
            turns.append(Turn(_text(each["question"]), messages, panels=shown))
            before, panels = messages, panels + len(shown)
        if panels > MAX_PANELS or len(before) > MAX_MESSAGES:
            raise ValueError
        id = kept.get("id")
        return (id if isinstance(id, str) and re.fullmatch(r"[0-9a-f]{32}", id) else ""), turns
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RatsearchError(
            "This is no conversation that ratsearch has kept: import a file that was exported here, as JSON."
        ) from error


def to_markdown(turns: Sequence[Turn]) -> str:
    """A conversation to read elsewhere: questions as headings, calls in short, answers as they were written."""
    parts = []
    for turn in turns:
        parts.append("## " + " ".join(turn.question.split()))
        for panel in turn.panels:
            if panel.kind == "answer":
                parts.append(cited(panel.body, panel.evidence).strip())
            elif panel.kind == "tool":
                parts.append("→ " + code_span(panel.title))
            elif panel.kind in ("notice", "error"):
                parts.append("> " + " ".join(panel.body.split()))
        sources = dict.fromkeys(panel.source for panel in turn.panels if panel.source)
        if sources:
            parts.append("Read:\n" + fence("\n".join(sources)))
    return "\n\n".join(parts) + "\n"


def _panel_fields(panel: Panel) -> dict[str, Any]:
    body = panel.body
    if panel.kind == "result" and len(body) > MAX_RESULT_CHARS:
        body = f"{body[:MAX_RESULT_CHARS]}\n…"
    fields = {"kind": panel.kind, "key": panel.key, "title": panel.title, "body": body, "state": panel.state}
    more = {
        "log": panel.log,
        "duration_s": panel.duration_s,
        "parent": panel.parent,
        "source": panel.source,
        "name": panel.name,
        "passages": list(panel.passages),
        "evidence": [asdict(each) for each in panel.evidence],
    }
    return fields | {name: value for name, value in more.items() if value}


def _panel(fields: dict[str, Any], number: int) -> Panel:
    kind, duration_s = fields["kind"], fields.get("duration_s")
    if kind not in KINDS:
        raise ValueError
    if duration_s is not None and not (isinstance(duration_s, (int, float)) and math.isfinite(duration_s)):
        raise ValueError
    parent, source = fields.get("parent"), fields.get("source")
    panel = Panel(kind, _key(fields.get("key", f"{kind}-{number}")), _text(fields["title"]), _text(fields["body"]))
    return replace(
        panel,
        state="error" if fields.get("state") == "error" else "done",
        log=_text(fields.get("log", "")),
        duration_s=duration_s,
        parent=None if parent is None else _key(parent),
        source=None if source is None else _text(source),
        name=_text(fields.get("name", "")),
        passages=tuple(map(_text, _list(fields.get("passages", []), 100))),
        evidence=tuple(_sentence(each, len(panel.body)) for each in _list(fields.get("evidence", []), MAX_SENTENCES)),
    )


def _sentence(fields: dict[str, Any], most: int) -> SentenceEvidence:
    if fields["verdict"] not in (None, *get_args(Verdict)):
        raise ValueError
    texts = {name: _text(fields[name]) for name in ("sentence", "passage", "article", "section", "source", "misquoted")}
    return SentenceEvidence(
        verdict=fields["verdict"],
        missing=tuple(map(_text, _list(fields["missing"], 1000))),
        start=_whole(fields["start"], most),
        end=_whole(fields["end"], most),
        **texts,
    )


def _message(fields: dict[str, Any]) -> dict[str, Any]:
    if fields["role"] not in ROLES:
        raise ValueError
    message: dict[str, Any] = {"role": fields["role"], "content": _text(fields["content"])}
    for name in ("reasoning_content", "tool_call_id"):
        if name in fields:
            message[name] = _text(fields[name])
    if "tool_calls" in fields:
        message["tool_calls"] = [
            {
                "id": _text(call["id"]),
                "type": "function",
                "function": {name: _text(call["function"][name]) for name in ("name", "arguments")},
            }
            for call in _list(fields["tool_calls"], 100)
        ]
    return message


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _key(value: Any) -> str:
    if not re.fullmatch(r"[a-z]+-\d{1,6}", _text(value)):
        raise ValueError
    return value


def _list(value: Any, most: int) -> list:
    if not isinstance(value, list) or len(value) > most:
        raise ValueError
    return value


def _whole(value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError
    return value
