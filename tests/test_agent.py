"""Agent: the loop, against a scripted server on a real socket."""

import json
import threading

import pytest

from ratsearch_lib.agent import Agent
from ratsearch_lib.agent.events import (
    Generated,
    Notice,
    Prefill,
    ReasoningDelta,
    RunFinished,
    TextDelta,
    TextWasReasoning,
    ToolCall,
    ToolResult,
    Usage,
)
from ratsearch_lib.agent.step import Call, name_calls, parse_arguments
from ratsearch_lib.agent.toolbox import schema
from ratsearch_lib.agent.turn import READ_BEFORE
from ratsearch_lib.chat.client import ChatClient
from ratsearch_lib.errors import ArchiveError, BadReply, ServerUnreachable
from ratsearch_lib.library import Library
from ratsearch_lib.sample import archive_path
from ratsearch_lib.text import Passage
from ratsearch_lib.tools import ReadResult, ToolContext

from .conformance.server import (
    HOLD,
    RESET,
    ScriptedServer,
    call,
    finish,
    llamacpp_props,
    progress,
    reasoning,
    say,
    sse,
    text,
    tool_call,
    usage,
)

ARTICLES = {"Rat": "Article: Rat\nA rodent.", "Bison": "Article: Bison\nA bovid."}


def read_article(title: str, *, context: ToolContext) -> str:
    """read an article"""
    if title == "Damaged":
        raise ArchiveError("rats.zim is damaged.")
    if context.choose:
        title = "Rat"
    if title not in ARTICLES:
        return "Article not found. Related articles:\nRat\nBison"
    best = (Passage(f"A {title} is a rodent or a bovid."),)
    context.sources.append(ReadResult(ARTICLES[title], title, f"rats.zim/{title}", best, best))
    return ARTICLES[title]


def double(number: int) -> str:
    """twice a number

    At length.
    """
    return str(2 * number)


def run(replies, question="What is a rat?", messages=(), tools=(read_article, double), **options):
    with ScriptedServer(replies) as server:
        agent = Agent(ChatClient(server.base_url), tools, mode="tools", **options)
        return list(agent.run(question, messages)), server.requests


def of_type(events, kind):
    return [event for event in events if isinstance(event, kind)]


def test_reads_then_answers():
    events, requests = run([call("read_article", {"title": "Rat"}), say("A rodent.")])
    assert of_type(events, ToolCall) == [ToolCall("call_1", "read_article", {"title": "Rat"})]
    (result,) = of_type(events, ToolResult)
    assert (result.text, result.is_error) == (ARTICLES["Rat"], False)
    assert (result.title, result.source) == ("Rat", "rats.zim/Rat")
    assert "".join(event.text for event in of_type(events, TextDelta)) == "A rodent."
    finished = events[-1]
    assert (finished.answer, finished.stop_reason, finished.usage) == ("A rodent.", "answered", Usage(20, 10))
    assert [message["role"] for message in finished.messages] == ["user", "assistant", "tool", "assistant"]
    sent = requests[1].json["messages"]
    assert sent[0]["role"] == "system"
    assert sent[-1] == {"role": "tool", "tool_call_id": "call_1", "content": ARTICLES["Rat"]}


def test_the_next_turn_sends_the_whole_conversation():
    events, _ = run([say("A rodent.")])
    _, requests = run([say("Yes.")], "Sure?", events[-1].messages)
    sent = [message["content"] for message in requests[0].json["messages"][1:]]
    assert sent == ["What is a rat?", "A rodent.", "Sure?"]


def test_an_own_system_message_stands():
    _, requests = run([say("Yes.")], messages=[{"role": "system", "content": "Be brief."}])
    assert [m["content"] for m in requests[0].json["messages"] if m["role"] == "system"] == ["Be brief."]


def test_several_calls_in_one_message_run_in_order():
    both = sse(
        text("Looking."),
        tool_call("read_article", {"title": "Rat"}, id="a", index=0),
        tool_call("read_article", {"title": "Bison"}, id="b", index=1),
        finish("tool_calls"),
    )
    events, requests = run([both, say("Done.")])
    kinds = [(type(event).__name__, event.id) for event in events if isinstance(event, ToolCall | ToolResult)]
    assert kinds == [("ToolCall", "a"), ("ToolResult", "a"), ("ToolCall", "b"), ("ToolResult", "b")]
    assert [m.get("tool_call_id") for m in requests[1].json["messages"]][-2:] == ["a", "b"]
    assert events[-1].answer == "Looking.\n\nDone."


def test_calls_that_share_an_index_or_an_id_stay_apart():
    same_index = sse(
        tool_call("read_article", {"title": "Rat"}, id="a", index=0, pieces=1),
        tool_call("read_article", {"title": "Bison"}, id="b", index=0, pieces=1),
        finish("tool_calls"),
    )
    same_id = sse(
        tool_call("read_article", {"title": "Rat"}, id="x", index=0),
        tool_call("read_article", {"title": "Bison"}, id="x", index=1),
        finish("tool_calls"),
    )
    for reply in (same_index, same_id):
        events, _ = run([reply, say("Done.")])
        assert [event.title for event in of_type(events, ToolResult)] == ["Rat", "Bison"]
        assert len({event.id for event in of_type(events, ToolResult)}) == 2


def test_reasoning_is_shown_and_not_sent_back():
    read = tool_call("read_article", {"title": "Rat"})
    thinking = sse(reasoning("Hm, "), reasoning("rats."), read, finish("tool_calls"))
    events, requests = run([thinking, say("A rodent.")])
    assert "".join(event.text for event in of_type(events, ReasoningDelta)) == "Hm, rats."
    assert "Hm, " not in requests[1].body.decode()
    assert "Hm" not in json.dumps(events[-1].messages)
    events, requests = run([thinking, say("A rodent.")], keep_reasoning=True)
    assert requests[1].json["messages"][2]["reasoning_content"] == "Hm, rats."


@pytest.mark.parametrize(
    ("name", "arguments", "teaches"),
    [
        ("get_weather", {"city": "Oslo"}, 'There is no tool "get_weather". There is: read_article, double.'),
        ("read_article", "", 'Call read_article with {"title": …}'),
        ("read_article", {"a": "Rat", "b": "Bison"}, "cannot be understood"),
        ("double", {"amount": True}, "cannot be understood"),
        ("read_article", {"title": "Rat", "context": 1}, ""),
        ("read_article", {"title": "Damaged"}, "rats.zim is damaged."),
    ],
)
def test_a_wrong_call_gets_a_result_that_teaches(name, arguments, teaches):
    events, requests = run([call(name, arguments), say("Sorry.")])
    (result,) = of_type(events, ToolResult)
    assert teaches in result.text
    assert result.is_error == bool(teaches)
    sent = requests[1].json["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(json.loads(sent), dict)  # llama.cpp answers 500 for ever to anything else
    assert events[-1].answer == "Sorry."


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_article", '{"title": "Rat'),
        ("read_article", {"titel": "Rat"}),
        ("read_article", json.dumps(json.dumps({"title": "Rat"}))),
        ("read_article", "Rat"),
        ("search_wikipedia", {"query": "Rat"}),
    ],
)
def test_a_broken_call_is_mended(name, arguments):
    events, requests = run([call(name, arguments), say("A rodent.")])
    assert of_type(events, ToolCall) == [ToolCall("call_1", "read_article", {"title": "Rat"})]
    sent = requests[1].json["messages"][2]["tool_calls"][0]["function"]
    assert (sent["name"], json.loads(sent["arguments"])) == ("read_article", {"title": "Rat"})


@pytest.mark.parametrize(
    "written",
    [
        '{"name": "read_article", "arguments": {"title": "Rat"}}',
        'Sure. ```json\n{"name": "read_article", "arguments": {"title": "Rat"}}\n```',
        '<tool_call>\n{"name": "read_article", "arguments": {"title": "Rat"}}\n</tool_call> A rat is a fish.',
        'Here:\n\n```json\n{\n  "name": "read_article",\n  "arguments": {\n    "title": "Rat"\n  }\n}\n```',
        'read_article title "Rat"',
        "Let me look: read_article(title='Rat')",
    ],
)
def test_a_call_written_as_text_is_run_and_not_shown(written):
    events, _ = run([sse(*map(text, written), finish()), say("A rodent.")])
    assert [event.title for event in of_type(events, ToolResult)] == ["Rat"]
    shown = "".join(event.text for event in of_type(events, TextDelta))
    assert "read_article" not in shown
    assert "fish" not in shown
    assert shown.endswith("A rodent.")


@pytest.mark.parametrize(
    "answer",
    ['In JSON: {"order": "Rodentia"}', "```python\nprint('rat')\n```", "<b>x</b> \\frac{1}{2} [1] `x`", "read"],
)
def test_an_answer_that_looks_a_little_like_a_call_is_shown_whole(answer):
    events, _ = run([sse(*map(text, answer), finish())])
    assert "".join(event.text for event in of_type(events, TextDelta)) == answer
    assert events[-1].answer == answer


def reads(*titles):
    return [call("read_article", {"title": title}) for title in titles]


def test_the_step_limit_ends_with_an_answer_without_tools():
    events, requests = run([*reads("Rat", "Bison", "Mouse"), say("Enough.")], max_steps=3)
    assert ["tools" in request.json for request in requests] == [True, True, True, False]
    assert (events[-1].answer, events[-1].stop_reason) == ("Enough.", "max_steps")


def test_calls_after_the_step_limit_are_not_run():
    events, requests = run([*reads("Rat", "Bison"), say("Enough.")], max_steps=1)
    assert len(of_type(events, ToolCall)) == 1
    assert len(requests) == 3
    assert "tool_calls" not in events[-1].messages[-1]
    assert events[-1].answer == "Enough."


def test_the_same_call_again_is_answered_in_a_line_and_the_tools_are_gone():
    events, requests = run([*reads("Rat", "Rat"), say("A rodent.")])
    first, second = of_type(events, ToolResult)
    assert first.text == ARTICLES["Rat"]
    assert "before" in second.text
    assert ["tools" in request.json for request in requests] == [True, True, False]
    assert (events[-1].answer, events[-1].stop_reason) == ("A rodent.", "repeated")


def test_a_miss_asked_for_again_reads_the_best_match():
    events, requests = run([*reads("Rat (rodent)", "Rat (rodent)"), say("A rodent.")])
    first, second = of_type(events, ToolResult)
    assert first.text.startswith("Article not found.")
    assert second.text == ARTICLES["Rat"]
    assert ["tools" in request.json for request in requests] == [True, True, True]
    assert events[-1].stop_reason == "answered"


def test_an_empty_reply_is_asked_for_again_once():
    events, requests = run([sse(finish()), say("A rodent.")])
    assert (events[-1].answer, events[-1].stop_reason, len(requests)) == ("A rodent.", "answered", 2)
    events, requests = run([sse(finish())] * 2, tools=[])
    assert (events[-1].answer, events[-1].stop_reason, len(requests)) == ("", "empty", 2)


@pytest.mark.parametrize(
    "useless", [[sse(finish())] * 2, [call("read_article", {"title": "Rat"})] * 4], ids=["empty", "calls for ever"]
)
def test_a_model_that_comes_to_no_answer_is_guided(useless):
    events, _ = run([*useless, say('{"title": "Rat"}'), say("A rat is a rodent.")])
    assert of_type(events, Notice)
    assert events[-1].answer.startswith("A rat is a rodent.")
    assert [message["role"] for message in events[-1].messages] == ["user", "assistant"]


def test_reasoning_alone_is_no_answer():
    events, requests = run([sse(reasoning("Hm."), finish()), say("A rodent.")])
    assert events[-1].answer == "A rodent."
    assert requests[1].json["messages"][-1] == {"role": "user", "content": "What is a rat?\n\nNow give your answer."}
    assert [message["role"] for message in events[-1].messages] == ["user", "assistant"]


def test_prefill_and_tokens_are_told():
    events, _ = run([sse(progress(128, 2210), progress(2210, 2210), text("A"), text("B"), finish())])
    assert of_type(events, Prefill) == [Prefill(0, 0), Prefill(128, 2210), Prefill(2210, 2210)]
    assert of_type(events, Generated) == [Generated(1), Generated(2)]


@pytest.mark.parametrize(("reason", "stop_reason"), [("stop", "answered"), ("length", "length")])
def test_the_stop_reason(reason, stop_reason):
    events, _ = run([sse(text("A rat is"), finish(reason))])
    assert events[-1].stop_reason == stop_reason


def test_a_stream_that_is_reset_raises_after_what_came():
    seen = []
    with ScriptedServer([sse(text("A ro"), RESET, done=False)]) as server:
        events = Agent(ChatClient(server.base_url), [read_article], mode="tools").run("?")
        with pytest.raises(BadReply):
            seen.extend(events)
    assert [event.text for event in of_type(seen, TextDelta)] == ["A ro"]


def test_no_server_is_one_clear_sentence():
    with pytest.raises(ServerUnreachable, match=r"127\.0\.0\.1:9"):
        Agent(ChatClient("http://127.0.0.1:9"), [read_article]).ask("?")


@pytest.mark.parametrize("parts", [(HOLD,), (progress(128, 2210), HOLD), (text("A"), HOLD)])
def test_close_from_another_thread_ends_the_request(parts):
    with ScriptedServer([sse(*parts)]) as server:
        stream = Agent(ChatClient(server.base_url), [read_article], mode="tools").run("?")
        reader = threading.Thread(target=lambda: list(stream))
        reader.start()
        assert server.holding.wait(10)
        stream.close()
        assert server.closed.wait(0.5)
        reader.join(5)
        assert not reader.is_alive()


async def test_closing_the_async_iterator_ends_the_request():
    with ScriptedServer([sse(text("A"), HOLD)]) as server:
        events = Agent(ChatClient(server.base_url), [read_article], mode="tools").arun("?")
        async for event in events:
            if isinstance(event, TextDelta):
                break
        await events.aclose()
        assert server.closed.wait(0.5)


async def test_run_works_inside_a_running_loop():
    with ScriptedServer([say("A rodent.")]) as server:
        assert Agent(ChatClient(server.base_url), [], mode="tools").ask("?").answer == "A rodent."


async def test_a_tool_may_be_async_and_without_context():
    async def shout(word: str) -> str:
        """the word, louder"""
        return word.upper()

    events, _ = run([call("shout", {"word": "rat"}), say("Done.")], tools=[shout])
    assert of_type(events, ToolResult)[0].text == "RAT"


@pytest.mark.parametrize(("tools", "kind"), [(True, "tools"), (False, "guided")])
def test_mode_follows_the_servers_template(tools, kind):
    with ScriptedServer([say("x")] * 3, routes={"GET /props": llamacpp_props(tools=tools)}) as server:
        list(Agent(ChatClient(server.base_url), [read_article]).run("What is a rat?"))
        assert ("tools" in server.requests[0].json) == (kind == "tools")


def test_the_result_gets_a_share_of_the_window():
    budgets = []

    def read(title: str, *, context: ToolContext) -> str:
        """read"""
        budgets.append(context.max_tokens)
        return "."

    for n_ctx in (32768, 2048):
        replies = [sse(tool_call("read", {"title": "x"}), finish("tool_calls"), usage(300, 48)), say("Done.")]
        with ScriptedServer(replies, routes={"GET /props": llamacpp_props(n_ctx=n_ctx)}) as server:
            list(Agent(ChatClient(server.base_url), [read]).run("?"))
    wide, narrow = budgets
    assert wide == 2000
    assert 1150 < narrow < 2048 - 2048 // 4 - 300  # a quarter is for the answer, 300 are taken, and the call itself


def test_schema_comes_from_the_function():
    assert schema(double) == {
        "type": "function",
        "function": {
            "name": "double",
            "description": "twice a number",
            "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
        },
    }
    assert list(schema(read_article)["function"]["parameters"]["properties"]) == ["title"]


def test_calls_get_ids_of_their_own():
    calls = [Call(id, "x", {}) for id in ("", "call_1", "call_1", "")]
    name_calls(calls)
    assert len({each.id for each in calls}) == 4


@pytest.mark.parametrize(("written", "arguments"), [('{"a": 1}', {"a": 1}), ("[]", None), ("", None), ('"x"', None)])
def test_arguments(written, arguments):
    assert parse_arguments(written) == arguments


def test_ask_returns_the_end_of_the_run():
    with ScriptedServer([say("A rodent.")]) as server:
        finished = Agent(ChatClient(server.base_url), [], mode="tools").ask("?")
    assert isinstance(finished, RunFinished)
    assert finished.answer == "A rodent."


def test_text_that_turns_out_to_be_reasoning_is_no_answer():
    unopened = sse(text("I should "), text("read.</think>"), tool_call("read_article", {"title": "Rat"}), finish())
    events, requests = run([unopened, say("A rodent.")])
    kinds = [type(event) for event in events if not isinstance(event, Generated | Prefill)]
    assert kinds[:4] == [TextDelta, TextDelta, TextWasReasoning, ToolCall]
    assert events[-1].answer == "A rodent."
    assert "I should" not in requests[1].body.decode()


def test_an_article_that_was_read_by_another_name_is_not_read_again():
    with Library.open(archive_path(), build="wait") as library:
        calls = [call("read_article", {"title": title}) for title in ("American bison", "Bison bison")]
        events, requests = run([*calls, say("The bison.")], tools=[library.read_article])
    first, second = of_type(events, ToolResult)
    assert first.source == second.source
    assert second.text == READ_BEFORE
    assert "tools" not in requests[2].json
    assert events[-1].answer == "The bison."
