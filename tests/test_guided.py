"""Guided mode: the agent looks up, the model words the answer, and only what the text bears out is shown."""

import json

import pytest

from ratsearch_lib.agent import Agent
from ratsearch_lib.agent.events import Notice, ReasoningDelta, TextDelta, ToolCall, ToolResult
from ratsearch_lib.agent.guided import borne_out, is_small_talk
from ratsearch_lib.chat.client import ChatClient
from ratsearch_lib.library import Library
from ratsearch_lib.sample import archive_path

from .conformance.server import ScriptedServer, error_reply, say

CLASSIC = "What's the largest mammal in North America?"


@pytest.fixture(scope="module")
def library():
    with Library.open(archive_path(), build="wait") as library:
        yield library


def run(library, replies, question=CLASSIC, messages=()):
    with ScriptedServer(replies) as server:
        agent = Agent(ChatClient(server.base_url), [library.read_article], mode="guided")
        return list(agent.run(question, messages)), server.requests


def shown(events):
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_a_vague_title_still_finds_the_article(library):
    events, requests = run(library, [say('{"title": "Bear"}'), say("The American bison is the largest land mammal.")])
    (call,) = [event for event in events if isinstance(event, ToolCall)]
    (result,) = [event for event in events if isinstance(event, ToolResult)]
    assert (call.name, call.arguments) == ("read_article", {"title": "Bear"})
    assert result.title == "American bison"
    assert result.text.splitlines()[0] == 'Article: American bison (for "Bear")'
    answer = events[-1].answer
    assert answer.startswith("The American bison is the largest land mammal.\n\n> ")
    assert answer.endswith("> — American bison")
    assert "largest land mammal in North America" in answer
    assert shown(events) == answer
    assert events[-1].stop_reason == "answered"
    assert requests[0].json["response_format"]["json_schema"]["schema"]["required"] == ["title"]
    assert "tools" not in requests[0].json
    passages = requests[1].json["messages"][0]["content"]
    assert "largest land mammal in North America" in passages
    assert passages.endswith("Answer in one sentence from the text above.")


@pytest.mark.parametrize(
    "made_up",
    [
        "The blue whale ate 5000 krill in Wisconsin yesterday afternoon.",
        "It weighs 4321 kg.",
        "I am a language model trained by a company.",
        "",
    ],
)
def test_what_the_text_does_not_bear_out_is_not_shown(library, made_up):
    events, _ = run(library, [say('{"title": "American bison"}'), say(made_up)])
    assert events[-1].answer.startswith("> ")
    if made_up:
        assert made_up not in shown(events)


@pytest.mark.parametrize("title_reply", ["no JSON at all", '{"title": ""}', '{"title": 5}', "[]", '{"title": "Ame'])
def test_a_useless_title_leaves_the_question(library, title_reply):
    events, _ = run(library, [say(title_reply), say("x")])
    assert [event.title for event in events if isinstance(event, ToolResult)] == ["American bison"]


def test_a_server_without_json_schema_still_answers(library):
    events, _ = run(library, [error_reply(400, "response_format is not supported"), say("x")])
    assert "American bison" in events[-1].answer


def test_nothing_found_is_said_and_nothing_made_up(library):
    events, requests = run(library, [say('{"title": "Quidditch"}')], "Who won the Quidditch cup at Hogwarts?")
    assert events[-1].stop_reason == "not_found"
    assert events[-1].answer.startswith("I found no article that answers this.")
    assert len(requests) == 1


def test_small_talk_reads_nothing_and_is_marked(library):
    events, requests = run(library, [say("Hello! How can I help?")], "Hi, how's it going?")
    assert not [event for event in events if isinstance(event, ToolCall)]
    assert events[-1].answer == "Hello! How can I help?\n\n*(Said without reading an article.)*"
    assert shown(events) == events[-1].answer
    assert len(requests) == 1


def test_the_conversation_holds_question_and_answer(library):
    first, _ = run(library, [say('{"title": "Ada Lovelace"}'), say("x")], "Who was Ada Lovelace?")
    messages = first[-1].messages
    assert [message["role"] for message in messages] == ["user", "assistant"]
    second, requests = run(library, [say('{"title": "Ada Lovelace"}'), say("x")], "And when did she die?", messages)
    assert [event.title for event in second if isinstance(event, ToolResult)] == ["Ada Lovelace"]
    assert "Who was Ada Lovelace? And when did she die?" in json.dumps(requests[0].json)
    assert "1852" in second[-1].answer


def test_reasoning_and_titles_are_not_shown_as_the_answer(library):
    events, _ = run(library, [say('{"title": "Denali"}'), say("Denali is 6,190 m high.")], "How tall is Denali?")
    assert '"title"' not in shown(events)
    assert not [event for event in events if isinstance(event, ReasoningDelta | Notice)]


@pytest.mark.parametrize(
    ("question", "small"),
    [
        ("Hi, how's it going?", True),
        ("hello", True),
        ("Thanks!", True),
        ("Good morning", True),
        ("How are you?", True),
        ("Who are you?", True),
        ("Who is The Who?", False),
        ("What is it?", False),
        ("How tall is Denali?", False),
        ("Hi, how tall is Denali?", False),
        ("When was hello first said?", False),
        ("", False),
        ("東京", False),
    ],
)
def test_small_talk(question, small):
    assert is_small_talk(question) == small


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("Oslo is the capital of Norway.", "Oslo is the capital of Norway."),
        ("Oslo is Norway's capital. Bergen is Sweden's.", "Oslo is Norway's capital."),
        ("Oslo has 700,000 people.", "Oslo has 700,000 people."),
        ("Oslo has 900,000 people.", ""),
        ("It is.", ""),
        ("", ""),
    ],
)
def test_borne_out(answer, kept):
    assert borne_out(answer, ["Oslo is the capital of Norway and has 700,000 people."]) == kept
