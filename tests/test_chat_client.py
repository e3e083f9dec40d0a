"""ChatClient against a scripted server: what it sends, what it makes of what comes, and that it stops."""

import asyncio
import json

import pytest

from ratsearch_lib.chat import ChatClient, Delta, ToolCallDelta
from ratsearch_lib.chat.bridge import iterate
from ratsearch_lib.errors import (
    ChatError,
)

from .conformance.asking import LONG_S, QUESTION, answer_of, ask
from .conformance.server import (
    HOLD,
    RESET,
    Reply,
    ScriptedServer,
    capture,
    error_reply,
    finish,
    hang,
    json_reply,
    llamacpp_props,
    progress,
    reasoning,
    say,
    sse,
    text,
    tool_call,
    usage,
)

KEY = "sk-4815162342-secret"


# What is sent


def test_a_request_says_what_it_must_and_no_more():
    with ScriptedServer([say("A whale.")]) as server:
        ask(server)
        (request,) = server.requests
        assert request.path == "/v1/chat/completions"
        assert request.json == {
            "model": "scripted",
            "messages": QUESTION,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        assert "authorization" not in request.headers


def test_options_of_the_client_and_of_the_request():
    tool = {"type": "function", "function": {"name": "read_article", "parameters": {"type": "object"}}}
    with ScriptedServer([say("A"), say("B")]) as server:
        client = ChatClient(server.base_url, "big", seed=7, temperature=0.5, min_p=0.1, extra_body={"top_k": 3})
        ask(server, client, tools=[tool], tool_choice="auto", max_tokens=9, response_format={"type": "json_object"})
        ask(server, client, temperature=0.0, tool_choice="none")
        first, second = (request.json for request in server.requests)
    assert first["model"] == "big"
    assert {name: first[name] for name in ("seed", "temperature", "min_p", "top_k", "max_tokens")} == {
        "seed": 7,
        "temperature": 0.5,
        "min_p": 0.1,
        "top_k": 3,
        "max_tokens": 9,
    }
    assert (first["tools"], first["tool_choice"]) == ([tool], "auto")
    assert first["response_format"] == {"type": "json_object"}
    assert second["temperature"] == 0.0
    assert not {"tools", "tool_choice", "max_tokens", "response_format"} & set(second)


def test_llamacpp_alone_is_asked_for_progress():
    with ScriptedServer([say("A")], routes={"GET /props": llamacpp_props()}) as server:
        ask(server)
        assert server.requests[0].json["return_progress"] is True
        assert server.requests[0].json["cache_prompt"] is True


def test_the_environment_changes_nothing(monkeypatch):
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET"):
        monkeypatch.setenv(f"OPENAI_{name}", "leaked")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: leaked\nAuthorization: leaked")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/leaked")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with ScriptedServer([say("A"), say("B")]) as server:
        ask(server)
        ask(server, ChatClient(server.base_url, api_key=KEY, extra_headers={"X-Title": "rats"}))
        for request in [*server.requests, *server.other_requests]:
            assert "leaked" not in str(request.headers)
            assert not [name for name in request.headers if name.startswith(("x-stainless", "openai"))]
        assert "authorization" not in server.requests[0].headers
        assert server.requests[1].headers["authorization"] == f"Bearer {KEY}"
        assert server.requests[1].headers["x-title"] == "rats"


@pytest.mark.parametrize("field", ["stream_options", "return_progress"])
def test_an_optional_field_that_a_server_refuses_is_left_out_from_then_on(field):
    refusal = error_reply(400, f"Unrecognized request argument supplied: {field}")
    with ScriptedServer([refusal, say("A"), say("B")], routes={"GET /props": llamacpp_props()}) as server:
        client = ChatClient(server.base_url)
        assert answer_of(ask(server, client)) == "A"
        assert answer_of(ask(server, client)) == "B"
        assert [field in request.json for request in server.requests] == [True, False, False]


def test_max_tokens_by_its_newer_name_where_the_server_wants_it():
    refusal = error_reply(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    with ScriptedServer([refusal, say("A")]) as server:
        ask(server, max_tokens=5)
        assert server.requests[1].json["max_completion_tokens"] == 5
        assert "max_tokens" not in server.requests[1].json


# What comes


def test_text_reasoning_and_counts():
    reply = sse(
        reasoning("Big "), reasoning("ones", field="reasoning"), text("A"), text(" bison"), finish(), usage(12, 4)
    )
    with ScriptedServer([reply]) as server:
        assert ask(server) == [
            Delta(reasoning="Big "),
            Delta(reasoning="ones"),
            Delta(text="A"),
            Delta(text=" bison"),
            Delta(finish_reason="stop"),
            Delta(usage=(12, 4)),
        ]


def test_a_tool_call_in_fragments():
    with ScriptedServer([sse(tool_call("read_article", {"title": "Bison"}, pieces=2), finish("tool_calls"))]) as server:
        assert ask(server) == [
            Delta(tool_calls=(ToolCallDelta(0, "call_1", "read_article", ""),)),
            Delta(tool_calls=(ToolCallDelta(0, "", "", '{"title":'),)),
            Delta(tool_calls=(ToolCallDelta(0, "", "", ' "Bison"}'),)),
            Delta(finish_reason="tool_calls"),
        ]


def test_prefill_progress():
    with ScriptedServer([sse(progress(0, 300), progress(128, 300), text("A"), finish())]) as server:
        assert [delta.prefill for delta in ask(server)][:2] == [(0, 300), (128, 300)]


@pytest.mark.parametrize(
    "reply",
    [
        sse(text("A bison"), finish(), done=False),
        sse(text("A bison"), done=False),
        sse(text("A bison"), finish(), RESET),
        json_reply({"choices": [{"message": {"role": "assistant", "content": "A bison"}, "finish_reason": "stop"}]}),
        Reply((b'data: {"choices":[{"delta":{"content":"A bison"}}]}\r\n\r\n: ping\r\n\r\n',), 200, {}),
        sse({"choices": [{"delta": {"content": [{"type": "text", "text": "A bison"}]}}]}),
    ],
    ids=["no [DONE]", "no finish_reason", "reset after the end", "not streamed", "CRLF and comments", "content parts"],
)
def test_replies_that_are_odd_but_whole(reply):
    with ScriptedServer([reply]) as server:
        assert answer_of(ask(server)) == "A bison"


def test_many_at_once_are_not_mixed_up():
    def echo(request):
        return say(request.json["messages"][0]["content"])

    async def one(client, number):
        messages = [{"role": "user", "content": f"number {number} of many"}]
        return "".join([delta.text async for delta in client.stream(messages)])

    async def all_of_them(base_url):
        client = ChatClient(base_url)
        return await asyncio.gather(*(one(client, number) for number in range(30)))

    with ScriptedServer(echo) as server:
        assert asyncio.run(all_of_them(server.base_url)) == [f"number {number} of many" for number in range(30)]


# Stopping


@pytest.mark.parametrize(
    "reply",
    [hang(), sse(HOLD), sse(progress(128, 3000), HOLD), sse(text("A"), HOLD)],
    ids=["before the headers", "after the headers", "in prefill", "in the answer"],
)
def test_close_closes_the_connection(reply):
    with ScriptedServer([reply, say("next")]) as server:
        client = ChatClient(server.base_url)
        deltas = iterate(lambda: client.stream(QUESTION))
        assert server.holding.wait(LONG_S)
        deltas.close()
        assert server.closed.wait(LONG_S)
        assert server.closed_early == 1
        assert answer_of(ask(server, client)) == "next"


async def test_aclose_between_deltas_closes_the_connection():
    with ScriptedServer([sse(text("A"), HOLD)]) as server:
        deltas = ChatClient(server.base_url).stream(QUESTION)
        assert (await anext(deltas)).text == "A"
        await deltas.aclose()
        assert await asyncio.to_thread(server.closed.wait, LONG_S)


async def test_cancelling_half_of_many_leaves_no_connection_and_no_task():
    def script(request):
        return sse(text("A"), HOLD, text("B"), finish())

    with ScriptedServer(script) as server:
        client = ChatClient(server.base_url)

        async def one():
            return "".join([delta.text async for delta in client.stream(QUESTION)])

        before = asyncio.all_tasks()
        tasks = [asyncio.create_task(one()) for _ in range(20)]
        while len(server.requests) < 20:
            await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.wait(tasks[::2])
        server.release()
        assert await asyncio.gather(*tasks[1::2]) == ["AB"] * 10
        while asyncio.all_tasks() != before:  # what openai leaves to the loop ends in its next turns
            await asyncio.sleep(0)


# Replies that a real llama.cpp server gave


def replay(data, name):
    with ScriptedServer([capture(data / "captures" / name)]) as server:
        return ask(server)


def test_recorded_prefill(data):
    deltas = replay(data, "smol_nbatch512_stream_return_progress.sse")
    assert [delta.prefill for delta in deltas if delta.prefill] == [(0, 1246), (512, 1246), (1024, 1246), (1246, 1246)]
    assert deltas[-1] == Delta(usage=(1246, 3), n_generated=3)
    assert deltas[-2] == Delta(finish_reason="length")


def test_recorded_reasoning(data):
    deltas = replay(data, "qwqtemplate_reasoning_stream.sse")
    assert "".join(delta.reasoning for delta in deltas).startswith("\n2 plus 3 equals")
    assert deltas[-1].usage == (24, 13)


def test_recorded_tool_call(data):
    deltas = replay(data, "qwen15_fencetmpl_toolcall_stream.sse")
    fragments = [call for delta in deltas for call in delta.tool_calls]
    assert fragments[0] == ToolCallDelta(0, "G0gcCjaLyeF0s6o6WE5qnnksRqB4yEij", "read_article", "{")
    assert list(json.loads("".join(call.arguments for call in fragments))) == ["title"]
    assert deltas[-2].finish_reason == "tool_calls"


def test_recorded_error_within_a_stream(data):
    recorded = data / "captures" / "qwen15_baretmpl_error_500_output_does_not_match_format_stream.sse"
    came = []
    with ScriptedServer([capture(recorded)]) as server:
        client = ChatClient(server.base_url)
        with pytest.raises(ChatError, match="peg-native format") as caught:
            came.extend(came.append(delta) for delta in iterate(lambda: client.stream(QUESTION)))
    assert caught.value.status == 500
    arguments = [call.arguments for delta in came if delta for call in delta.tool_calls]
    assert "".join(arguments).endswith('Berlin Wall"}')


def test_half_a_surrogate_pair_in_a_models_name():
    with ScriptedServer([say("A")]) as server:
        client = ChatClient(server.base_url, "caf\udce9")
        ask(server, client)
        client.supports_tools()
        client.window()
        assert {request.json["model"] for request in server.requests if "model" in (request.json or {})} == {
            "caf\ufffd"
        }
