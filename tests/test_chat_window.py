"""The context window: counting, and what gives way."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib import Agent, ContextTrimmed, Notice, RunFinished, ToolResult
from ratsearch_lib.chat import ChatClient
from ratsearch_lib.chat.window import Calibration, Window, estimate_messages, estimate_tokens, is_stub
from ratsearch_lib.errors import ContextOverflow

from .conformance.server import (
    ScriptedServer,
    call,
    error_reply,
    finish,
    json_reply,
    llamacpp_props,
    say,
    sse,
    text,
    tool_call,
    usage,
)


def user(content):
    return {"role": "user", "content": content}


def assistant(content):
    return {"role": "assistant", "content": content}


def reading(number, content):
    """A call and its result."""
    function = {"name": "read_article", "arguments": json.dumps({"title": f"T{number}"})}
    return [
        {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}", "function": function}]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": content},
    ]


def article(number, words=400):
    return f"Article: T{number}\n" + "word " * words


def test_estimates_by_hand():
    assert estimate_tokens("a" * 400) == 100
    assert estimate_tokens("я" * 400) == 200
    assert estimate_tokens("鼠" * 400) == 400
    assert estimate_messages([user("a" * 400), assistant("a" * 40)]) == 100 + 6 + 10 + 6


def test_what_the_server_counts_corrects_the_estimate():
    window, messages = Window(8192), [user("a" * 4000)]
    assert window.count(messages) == 1006
    assert not window.reported(messages, 1509)  # half as many again
    assert window.count(messages) == 1509
    messages.append(assistant("a" * 4000))
    assert window.count(messages) == pytest.approx(3018, abs=2)


def test_what_a_template_adds_is_no_ratio():
    window, messages = Window(8192), [user("Hi")]
    window.reported(messages, 300)
    assert window.count([*messages, assistant("a" * 4000)]) == 300 + 1006


def test_the_oldest_results_give_way_first_and_the_question_never():
    window = Window(3000)
    messages = [user("One?"), *reading(1, article(1)), assistant("One."), user("Two?"), *reading(2, article(2, 1600))]
    before = list(messages)
    trimmed = window.fit(messages)
    assert trimmed.calls == {"c1"}
    assert messages[2]["content"] == "Article: T1\n(read before; call read_article again)"
    assert [m for n, m in enumerate(messages) if n != 2] == [m for n, m in enumerate(before) if n != 2]
    assert before[2]["content"] == article(1)  # the caller's messages are not touched
    assert window.fit(messages) is None


def test_old_turns_go_before_the_newest_result_is_cut():
    window = Window(2000)
    old = [message for n in range(8) for message in (user(f"Q{n}? " + "x" * 400), assistant("y" * 400))]
    messages = [{"role": "system", "content": "S"}, *old, user("Now?"), *reading(1, article(1, 1200))]
    trimmed = window.fit(messages)
    assert [m["content"] for m in messages if m["role"] in ("system", "user")][:2] == ["S", "Now?"]
    assert trimmed.turns == 8
    assert messages[-1]["content"].startswith("Article: T1\nword")
    assert messages[-1]["content"].endswith("(The rest does not fit.)")
    assert window.count(messages) <= window.max_prompt


def test_a_question_that_is_too_long_by_itself_stays():
    messages = [user("a" * 40_000)]
    assert Window(4096).fit(messages) is None
    assert messages == [user("a" * 40_000)]


messages_of = st.lists(
    st.one_of(
        st.builds(lambda n: [user("q" * n)], st.integers(0, 3000)),
        st.builds(lambda n: [assistant("a" * n)], st.integers(0, 3000)),
        st.builds(lambda i, n: reading(i, article(i, n)), st.integers(0, 9), st.integers(0, 2000)),
    ),
    max_size=12,
).map(lambda groups: [user("first"), *(message for group in groups for message in group)])


@given(messages_of, st.integers(512, 8192), st.integers(0, 2000))
def test_whatever_is_trimmed_stays_a_conversation(messages, size, room):
    window = Window(size)
    kept = [m for m in messages if m["role"] != "tool"]
    kept = kept[max(n for n, m in enumerate(kept) if m["role"] == "user") :]
    trimmed = window.fit(messages, room)
    assert [m for m in messages if m["role"] != "tool"][-len(kept) :] == kept
    calls = [c["id"] for m in messages for c in m.get("tool_calls", ())]
    assert calls == [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    if trimmed:
        assert trimmed.tokens > 0
    again = list(messages)
    window.fit(again, room)
    assert sum(map(is_stub, (m["content"] for m in again))) == sum(map(is_stub, (m["content"] for m in messages)))


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("request (10531 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096),
        ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens", 4096),
        ("The decoder prompt (length 9000) is longer than the maximum model length of 4096.", 4096),
        ("Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context "
         "length of only 4096 tokens", 4096),
        ("the input length exceeds the context length", 804),  # four fifths of what was too much
    ],
)  # fmt: skip
def test_sizes_in_refusals(said, size):
    window = Window(8192, Calibration())
    window.overflowed([user("a" * 4000)], f"The server reports an error. It says: {said}")
    assert window.size == window.calibration.limit == size


# With a server


def read_article(title: str) -> str:
    """read an article"""
    return f"Article: {title}\n" + "word " * 1500


def run(replies, messages=(), question="What is a rat?", n_ctx=4096, routes=None):
    routes = {"GET /props": llamacpp_props(n_ctx=n_ctx), **(routes or {})}
    with ScriptedServer(replies, routes=routes) as server:
        agent = Agent(ChatClient(server.base_url), [read_article], mode="tools")
        return list(agent.run(question, messages)), [request.json["messages"] for request in server.requests]


def of_type(events, kind):
    return [event for event in events if isinstance(event, kind)]


def sizes(requests):
    return [len(json.dumps(messages)) for messages in requests]


def test_between_trims_the_conversation_only_grows():
    replies = [call("read_article", {"title": title}, id=title) for title in "AB"]
    first, requests = run([*replies, say("One."), say("Two.")], n_ctx=32768)
    _, later = run([say("Two.")], first[-1].messages, "And?", n_ctx=32768)
    requests += later
    for before, after in itertools.pairwise(requests):
        assert after[: len(before)] == before


def test_results_give_way_while_a_model_reads_on():
    replies = [call("read_article", {"title": title}, id=title) for title in "ABCD"]
    events, requests = run([*replies, say("Done.")])
    trims = of_type(events, ContextTrimmed)
    assert sum(trim.results for trim in trims) >= 2
    assert all(size < 4 * 4096 for size in sizes(requests))
    contents = [message["content"] for message in requests[-1] if message["role"] == "tool"]
    assert contents[0] == "Article: A\n(read before; call read_article again)"
    assert contents[-1].startswith("Article: D\nword")
    assert events[-1].answer == "Done."


def test_what_gave_way_may_be_read_again():
    replies = [call("read_article", {"title": title}, id=str(n)) for n, title in enumerate("ABCA")]
    events, _ = run([*replies, say("Done.")])
    assert of_type(events, ToolResult)[-1].text.startswith("Article: A\nword")
    assert events[-1].stop_reason == "answered"


def test_an_overflow_trims_and_is_asked_again_once():
    refusal = error_reply(400, "request (9000 tokens) exceeds the available context size (2048 tokens)")
    history = [user("Before?"), *reading(1, article(1, 3000)), assistant("So.")]
    events, requests = run([refusal, say("A rodent.")], history, n_ctx=65536)
    assert len(of_type(events, ContextTrimmed)) == 1
    assert events[-1].answer == "A rodent."
    first, second = sizes(requests)
    assert second < first / 4
    with pytest.raises(ContextOverflow):
        run([refusal, refusal], history, n_ctx=65536)
    with pytest.raises(ContextOverflow):
        run([refusal], n_ctx=65536)  # nothing to trim


def test_a_prompt_that_was_cut_without_a_word_is_noticed():
    history = [user("Before?"), *reading(1, article(1, 3000)), assistant("So.")]
    cut = sse(text("A rodent."), finish(), usage(1026, 5))
    with ScriptedServer([cut, say("Yes.")], routes={"GET /props": llamacpp_props(n_ctx=65536)}) as server:
        agent = Agent(ChatClient(server.base_url), [read_article], mode="tools")
        *events, finished = agent.run("What is a rat?", history)
        [notice] = of_type(events, Notice)
        assert "1,026 tokens" in notice.text
        again = list(agent.run("Sure?", finished.messages))
        assert of_type(again, ContextTrimmed)
        assert len(server.requests[1].body) < len(server.requests[0].body) / 2


def test_a_window_nearly_full_is_counted_by_the_server():
    history = [user("Before?"), *reading(1, article(1, 2000)), assistant("So.")]
    asked = []

    def count(request):
        asked.append(request.json)
        return json_reply({"input_tokens": 4000})

    with ScriptedServer(
        [say("A."), say("B.")],
        routes={
            "GET /props": llamacpp_props(n_ctx=4096),
            "POST /v1/chat/completions/input_tokens": count,
        },
    ) as server:
        agent = Agent(ChatClient(server.base_url), [read_article], mode="tools")
        list(agent.run("Hi?"))
        assert asked == []
        events = list(agent.run("What is a rat?", history))
    assert asked[0]["messages"][-1] == user("What is a rat?")
    assert asked[0]["tools"]
    assert of_type(events, ContextTrimmed)
    assert isinstance(events[-1], RunFinished)


def test_a_model_that_repeats_itself_in_a_small_window_comes_to_an_end():
    """Each time the article is cut to fit, so each time it may be read again; but not for ever."""
    again = sse(*tool_call("read_article", {"title": "Rat"}), finish("tool_calls"))
    replies = [*[again] * 4, say("A rodent.")]
    with ScriptedServer(replies, routes={"GET /props": llamacpp_props(n_ctx=900)}) as server:
        agent = Agent(ChatClient(server.base_url), [read_article], mode="tools")
        finished = agent.ask("What is a rat?")
        assert (finished.answer, finished.stop_reason) == ("A rodent.", "repeated")
        assert "tools" not in server.requests[-1].json
