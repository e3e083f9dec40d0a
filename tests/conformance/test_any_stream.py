"""Whatever mixture of events a server sends: a run ends in an answer or in one of our errors, and can go on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratsearch_lib import Agent, ChatClient
from ratsearch_lib.errors import ChatError

from .calls import piece
from .case import check_history, read_article, read_long_article
from .server import (
    ScriptedServer,
    error_event,
    error_reply,
    finish,
    llamacpp_props,
    progress,
    reasoning,
    sse,
    text,
    usage,
)

TEXTS = """<think> </think> read_article( "Rat") {"title":"Rat"}} ```json [TOOL_CALLS] <tool_call> ` A rat""".split()
CALL = '{"name": "read_article", "arguments": {"title": "Rat"}}'
texts = st.sampled_from([*TEXTS, '{"name": "read_article", "arguments": ', CALL, "\n", " "])
pieces = st.builds(
    lambda index, fields: piece(index, **fields),
    st.sampled_from([0, 0, 1, 5, None]),
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.sampled_from(["a", "b", ""]),
            "name": st.sampled_from(["read_article", "read", "search_wikipedia", "get_weather"]),
            "arguments": st.sampled_from(['{"title":', '"Rat"}', "", "{", '{"title": "A"}', "null", "[1]"]),
        },
    ),
)
failures = st.sampled_from(["died", "does not match the expected peg-native format", "maximum context length is 2048"])
events = st.one_of(
    st.builds(text, texts),
    st.builds(text, texts),
    pieces,
    pieces,
    st.builds(reasoning, texts),
    st.builds(finish, st.sampled_from(["stop", "length", "tool_calls", "other"])),
    st.builds(usage, st.sampled_from([0, 10, 1500, 90_000]), st.just(5)),
    st.sampled_from([{"choices": None}, b": ping\n\n", b"data: 7\n\n", progress(5, 10)]),
    st.builds(error_event, failures, code=st.sampled_from([400, 500, None])),
)
refusals = st.sampled_from(
    [
        error_reply(429, "busy", {"Retry-After": "0"}),
        error_reply(400, "request (5000 tokens) exceeds the available context size (1024 tokens)"),
        error_reply(400, "x does not support tools"),
        error_reply(500, "Conversation roles must alternate user/assistant"),
    ]
)
streams = st.builds(lambda parts, done: sse(*parts, done=done), st.lists(events, max_size=10), st.booleans())
replies = st.lists(streams | streams | streams | refusals, min_size=1, max_size=8)


@pytest.fixture(scope="module")
def server():
    with ScriptedServer(routes={"GET /props": llamacpp_props(n_ctx=2048)}) as server:
        yield server


@settings(max_examples=60)
@given(replies, st.sampled_from([read_article, read_long_article]), st.sampled_from(["auto", "tools"]))
def test_any_stream(server, replies, tool, mode):
    sent = len(server.requests)
    server.script(replies)
    agent = Agent(ChatClient(server.base_url), [tool], mode=mode, max_steps=3)
    messages = []
    for _ in range(2):
        try:
            *_, last = agent.run("What is a rat?", messages)
            messages = last.messages
        except ChatError as error:
            messages = error.messages
        check_history(messages)
    for request in server.requests[sent:]:
        check_history(request.json["messages"])
