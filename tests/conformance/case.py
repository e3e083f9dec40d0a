"""What a conformance case is, and how one is run: an agent with one tool against a scripted server."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ratsearch_lib import (
    Agent,
    ChatClient,
    ContextTrimmed,
    Notice,
    ReasoningDelta,
    TextDelta,
    TextWasReasoning,
    ToolCall,
    ToolResult,
)
from ratsearch_lib.errors import ChatError

from .server import Reply, Request, ScriptedServer, finish, say, sse, text

NEXT = "Still there?"
STILL_HERE = "Still here."


@dataclass(frozen=True)
class Case:
    """One thing that a model or server does, and what must come of it (None: not looked at).

    name, symptom, expected, reports   for people; `reports` as OWNER/REPOSITORY#NUMBER
    replies                            what the server answers, in order
    answer, read, error, …             what the person and the conversation must have in the end
    """

    name: str
    symptom: str
    expected: str
    replies: Sequence[Reply]
    reports: str = ""
    answer: str | None = None
    read: Sequence[str] | None = None
    reasoning: str | None = None
    error: type[ChatError] | None = None
    said: str = ""  # within the error, or the last tool result
    notices: int | None = None
    trimmed: bool | None = None
    stop_reason: str | None = None
    requests: int | None = None
    check: Callable[[list[dict[str, Any]]], bool] | None = None  # of the requests' bodies
    history: Sequence[dict[str, Any]] = ()
    mode: str = "tools"
    options: dict[str, Any] = field(default_factory=dict)
    client: dict[str, Any] = field(default_factory=dict)
    routes: dict[str, Reply | Callable[[Request], Reply]] = field(default_factory=dict)


def written(reply: str, *ending: Any) -> Reply:
    """A reply that is text, in pieces of three characters."""
    pieces = [reply[start : start + 3] for start in range(0, len(reply), 3)]
    return sse(*map(text, pieces), *(ending or (finish(),)))


def read_article(title: str) -> str:
    """read a wikipedia article"""
    return f"Article: {title}\n{title} is something to read about."


def read_long_article(title: str) -> str:
    """read a wikipedia article"""
    return f"Article: {title}\n" + f"{title} is something to read about. " * 400


read_long_article.__name__ = "read_article"


def run(case: Case) -> None:
    """Run a case and hold it against what is expected, and what holds for all: the conversation can go on."""
    tool = read_long_article if case.trimmed else read_article
    replies = iter(case.replies)
    seen = []
    error = None
    with ScriptedServer(lambda _: next(replies, say(STILL_HERE)), routes=case.routes) as server:
        agent = Agent(ChatClient(server.base_url, **case.client), [tool], mode=case.mode, **case.options)
        try:
            for event in agent.run("What is a rat?", case.history):
                seen.append(event)
            messages = seen[-1].messages
        except ChatError as failure:
            error, messages = failure, failure.messages
        bodies = [request.json for request in server.requests]
        for body in bodies:
            check_history(body["messages"])
        check_outcome(case, seen, error, bodies)
        check_history(messages)
        replies = iter(())
        answer = agent.ask(NEXT, messages).answer
        assert answer == STILL_HERE or case.mode == "auto"
        check_history(server.requests[-1].json["messages"])
        assert server.open_connections <= 1


def check_outcome(case: Case, seen: list[Any], error: ChatError | None, bodies: list[dict[str, Any]]) -> None:
    results = [event for event in seen if isinstance(event, ToolResult)]
    assert type(error) is (case.error or type(None)), error
    if case.said:
        assert case.said in (str(error) if error else results[-1].text)
    if case.answer is not None:
        assert (shown(seen) if error else seen[-1].answer) == case.answer
    assert '"arguments"' not in shown(seen)
    if case.read is not None:
        calls = [event for event in seen if isinstance(event, ToolCall)]
        assert [event.arguments.get("title") for event in calls] == list(case.read)
        assert [event.id for event in calls] == [event.id for event in results]
    if case.reasoning is not None:
        assert "".join(event.text for event in seen if isinstance(event, ReasoningDelta)) == case.reasoning
    if case.notices is not None:
        assert sum(isinstance(event, Notice) for event in seen) == case.notices
    if case.trimmed is not None:
        assert any(isinstance(event, ContextTrimmed) for event in seen) == case.trimmed
    if case.stop_reason is not None:
        assert seen[-1].stop_reason == case.stop_reason
    if case.requests is not None:
        assert len(bodies) == case.requests
    if case.check is not None:
        assert case.check(bodies)


def shown(seen: list[Any]) -> str:
    """The text that the person has before them in the end."""
    text = ""
    for event in seen:
        if isinstance(event, TextDelta):
            text += event.text
        elif isinstance(event, TextWasReasoning):
            text = ""
    return text


def check_history(messages: Sequence[dict[str, Any]]) -> None:
    """What llama.cpp and the strictest chat templates want of a conversation."""
    waiting: list[str] = []
    previous = ""
    for message in messages:
        role = message["role"]
        if role == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting, "a call without its result"
            assert (role, previous) not in (("user", "user"), ("user", "tool")), "a turn without an answer"
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            assert call["id"] not in waiting
            waiting.append(call["id"])
        assert "reasoning_content" not in message
        previous = role
    assert not waiting
