"""An agent when the server fails: what it waits for, what it gives up, and that the conversation can go on."""

import threading
import time

import pytest

from ratsearch_lib import Agent, ChatClient, Notice, TextDelta, ToolResult
from ratsearch_lib.agent.patience import MAX_WAIT_S
from ratsearch_lib.chat.failures import retry_after_s
from ratsearch_lib.errors import BadReply, ChatError, ServerLoading

from .conformance.asking import LONG_S
from .conformance.server import (
    HOLD,
    RESET,
    ScriptedServer,
    call,
    error_event,
    error_reply,
    finish,
    models,
    reasoning,
    say,
    sse,
    text,
    tool_call,
)

BUSY = error_reply(429, "Rate limit reached", {"Retry-After": "0"})


def read_article(title: str) -> str:
    """read an article"""
    return f"Article: {title}\nA rodent."


def agent_of(server, mode="tools"):
    return Agent(ChatClient(server.base_url), [read_article], mode=mode)


def of_type(events, kind):
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("mode", ["tools", "guided"])
def test_a_busy_server_is_asked_again(mode):
    loading = error_reply(503, "Loading model", {"Retry-After": "0"})
    with ScriptedServer([BUSY, loading, *[say("Hello!")] * 3]) as server:
        events = list(agent_of(server, mode).run("Hello!"))
    notices = [notice.text for notice in of_type(events, Notice)]
    assert notices == [
        "The server takes no more requests for now: asking again in 0 s.",
        "The server still loads its model: asking again in 0 s.",
    ]
    assert "Hello!" in events[-1].answer


def test_a_server_that_loads_its_model_is_waited_for_before_the_first_request():
    listings = iter([error_reply(503, "Loading model", {"Retry-After": "0"})])
    routes = {"GET /v1/models": lambda _: next(listings, models("m"))}
    with ScriptedServer([say("Hello!")], routes=routes) as server:
        events = list(agent_of(server, "auto").run("?"))
    assert len(of_type(events, Notice)) == 1
    assert events[-1].answer == "Hello!"


def test_patience_ends():
    with ScriptedServer(lambda _: BUSY) as server, pytest.raises(ChatError, match="takes no more requests"):
        agent_of(server).ask("?")
    assert len(server.requests) == 7


@pytest.mark.parametrize(
    "reply",
    [
        error_reply(429, "Come back tomorrow", {"Retry-After": str(MAX_WAIT_S + 1)}),
        error_reply(429, "You exceeded your current quota, please check your plan and billing details."),
        error_reply(500, "Out of memory", {"Retry-After": "0"}),
    ],
)
def test_what_waiting_does_not_help(reply):
    with ScriptedServer([reply]) as server, pytest.raises(ChatError):
        agent_of(server).ask("?")
    assert len(server.requests) == 1


def test_nothing_is_asked_for_twice_that_has_begun():
    broken = sse(text("A ro"), error_event("overloaded", code=503))
    with ScriptedServer([broken]) as server, pytest.raises(ServerLoading):
        agent_of(server).ask("?")


def test_a_wait_can_be_stopped():
    with ScriptedServer([error_reply(503, "Loading model", {"Retry-After": "100"})]) as server:
        stream = agent_of(server).run("?")
        waiting = threading.Event()

        def read():
            for event in stream:
                if isinstance(event, Notice):
                    waiting.set()

        reader = threading.Thread(target=read)
        reader.start()
        assert waiting.wait(30)
        stream.close()
        reader.join(30)
        assert not reader.is_alive()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "20"}, 20),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "20"}, 0.25),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_be_left_alone(headers, seconds):
    assert retry_after_s(headers) == seconds


def test_until_a_date():
    in_an_hour = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3600))
    assert 3500 < retry_after_s({"retry-after": in_an_hour}) <= 3600


READ = call("read_article", {"title": "Rat"})


@pytest.mark.parametrize(
    ("replies", "kept"),
    [
        ([sse(text("A "), text("ro"), RESET, done=False)], [("user", "?"), ("assistant", "A ro")]),
        ([sse(RESET, done=False)], []),
        ([error_reply(500, "out of memory")], []),
        (
            [READ, error_reply(500, "out of memory")],
            [
                ("user", "?"),
                ("assistant", ""),
                ("tool", "Article: Rat\nA rodent."),
                ("assistant", "(The answer did not come.)"),
            ],
        ),
        (
            [READ, sse(text("A ro"), RESET, done=False)],
            [("user", "?"), ("assistant", ""), ("tool", "Article: Rat\nA rodent."), ("assistant", "A ro")],
        ),
        (
            [sse(tool_call("read_article", '{"title": "Ra', pieces=1), RESET, done=False)],
            [],
        ),
    ],
)
def test_the_conversation_goes_on_after_a_failure(replies, kept):
    with ScriptedServer([*replies, say("Yes.")]) as server:
        agent = agent_of(server)
        before = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
        with pytest.raises(ChatError) as caught:
            agent.ask("?", before)
        messages = caught.value.messages
        assert messages[:2] == before
        assert [(message["role"], message["content"]) for message in messages[2:]] == kept
        assert agent.ask("Still there?", messages).answer == "Yes."


def test_a_failure_in_guided_mode_leaves_the_conversation_as_it_was():
    with ScriptedServer([error_reply(500, "out of memory")]) as server, pytest.raises(ChatError) as caught:
        agent_of(server, "guided").ask("What is a rat?")
    assert caught.value.messages == []


def test_what_was_received_stays_visible():
    seen = []
    with ScriptedServer([READ, sse(text("A ro"), RESET, done=False)]) as server, pytest.raises(BadReply):
        seen.extend(seen.append(event) for event in agent_of(server).run("?"))
    assert [event.text for event in seen if isinstance(event, TextDelta | ToolResult)] == [
        "Article: Rat\nA rodent.",
        "A ro",
    ]


@pytest.mark.parametrize(
    "said",
    [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (500, "tools param requires --jinja flag"),
        (404, "No endpoints found that support tool use."),
    ],
)
def test_a_server_that_refuses_tools_is_guided_from_then_on(said):
    with ScriptedServer([error_reply(*said), *[say("Hello!")] * 2]) as server:
        agent = agent_of(server, "auto")
        first = list(agent.run("Hello!"))
        assert len(of_type(first, Notice)) == 1
        assert first[-1].answer.startswith("Hello!")
        second = list(agent.run("Hello!"))
        assert not of_type(second, Notice)
        assert ["tools" in request.json for request in server.requests] == [True, False, False]


def test_a_call_that_came_whole_counts_though_the_server_could_not_read_it():
    unread = sse(
        tool_call("read_article", {"title": "Rat"}),
        error_event("The model produced output that does not match the expected peg-native format", code=500),
        done=False,
    )
    with ScriptedServer([unread, say("A rodent.")]) as server:
        events = list(agent_of(server).run("?"))
    assert of_type(events, ToolResult)[0].text == "Article: Rat\nA rodent."
    assert events[-1].answer == "A rodent."


def test_a_reply_that_the_server_could_not_read_is_asked_for_again():
    unread = error_reply(500, "Failed to parse input at pos 0: <|channel|>")
    with ScriptedServer([unread, sse(text("A rodent."), finish())]) as server:
        assert agent_of(server).ask("?").answer == "A rodent."


def test_small_talk_at_the_end_of_a_long_guided_conversation_is_short():
    before = []
    for number in range(40):
        before += [{"role": "user", "content": f"Q{number}"}, {"role": "assistant", "content": "A. " * 200}]
    with ScriptedServer([say("You are welcome!")]) as server:
        agent_of(server, "guided").ask("Thanks!", before)
        contents = [message["content"] for message in server.requests[0].json["messages"]]
    assert [content for content in contents if not content.startswith("A. ")] == ["Q38", "Q39", "Thanks!"]


def test_arguments_nested_without_end_are_the_models_fault():
    endless = sse(tool_call("read_article", "[" * 100_000), finish("tool_calls"))
    with ScriptedServer([endless, say("A rodent.")]) as server:
        events = list(agent_of(server).run("What are rats?"))
    assert events[-1].answer == "A rodent."


@pytest.mark.parametrize("kind", [text, reasoning])
def test_a_reply_that_repeats_itself_for_ever_is_stopped(kind):
    astray = sse(text("A rodent. "), *(kind("Let me see. ") for _ in range(200)), HOLD)
    with ScriptedServer([astray]) as server:
        events = list(Agent(ChatClient(server.base_url), [], mode="tools").run("What is a rat?"))
        assert server.closed.wait(LONG_S)
    assert [event.text for event in events if isinstance(event, Notice)] == [
        "The model repeated itself without end and was stopped."
    ]
    assert events[-1].answer.startswith("A rodent.")
