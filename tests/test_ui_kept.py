"""Conversations as the browser and files keep them, the line, and who is the owner."""

import argparse
import asyncio
import json
from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.cli.options import Options
from ratsearch_lib.errors import RatsearchError
from ratsearch_lib.ui import feedback, kept, serving
from ratsearch_lib.ui.answering import Answering, Settings
from ratsearch_lib.ui.articles import article_link
from ratsearch_lib.ui.conversation import Conversation, Turn
from ratsearch_lib.ui.line import Line
from ratsearch_lib.ui.messages import MAX_RESULT_CHARS, edited, turn_messages
from ratsearch_lib.view import InLine, Panel, TurnView

CALL = {"id": "c1", "type": "function", "function": {"name": "read_article", "arguments": '{"title": "Rat"}'}}
READ = [
    {"role": "user", "content": "What is a rat?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "Article: Rat\n\nA rodent."},
    {"role": "assistant", "content": "A rodent."},
]
MORE = [{"role": "user", "content": "Really?"}, {"role": "assistant", "content": "Yes."}]
PANELS = [
    Panel("tool", "tool-1", "read_article | Rat", '{"title": "Rat"}', "done", duration_s=0.1),
    Panel(
        "result", "result-2", "Read: Rat", "Article: Rat\n\nA rodent.", "done", "24 characters", 0.1, "tool-1",
        "a.zim/Rat", "Rat", ("A rodent.",),
    ),
    Panel("answer", "answer-3", body="A rodent.", state="done"),
]  # fmt: skip
TURNS = [Turn("What is a rat?", READ, PANELS), Turn("Really?", READ + MORE, [Panel("answer", "answer-1", body="Yes.")])]
ID = "0123456789abcdef" * 2


def test_a_conversation_comes_back_as_it_was_kept():
    text = kept.to_json(ID, TURNS)
    assert text.count("Article: Rat") == 2  # in a panel, and among the messages of the first turn alone
    id, turns = kept.from_json(text)
    assert id == ID
    assert [turn.question for turn in turns] == ["What is a rat?", "Really?"]
    assert [turn.messages for turn in turns] == [READ, READ + MORE]
    assert turns[0].panels == PANELS
    conversation = Conversation()
    conversation.restore(id, turns)
    assert conversation.id == ID
    assert [message["role"] for message in conversation.shown()] == ["user", *["assistant"] * 4, "user", "assistant"]
    assert conversation.take_back(1) == "Really?"
    assert conversation.turns[-1].messages == READ


def test_a_long_result_is_kept_once():
    panel = Panel("result", "result-1", body="x" * 65_535, state="done")
    assert len(kept.to_json(ID, [Turn("?", [], [panel])])) < MAX_RESULT_CHARS + 1000


GOOD = json.loads(kept.to_json(ID, TURNS))
FOREIGN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(FOREIGN, st.integers(0, 60))
def test_what_is_foreign_is_refused_in_a_sentence_or_harmless(foreign, place):
    value = json.loads(json.dumps(GOOD))
    places = []

    def walk(node):
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                walk(node[key])

    walk(value)
    node, key = places[place % len(places)]
    node[key] = foreign
    try:
        _, turns = kept.from_json(json.dumps(value))
    except RatsearchError:
        return
    Conversation().restore("", turns)
    kept.to_markdown(turns)


@pytest.mark.parametrize("text", ["", "{}", "[1]", "null", '{"ratsearch": 1}', "[" * 100_000])
def test_what_is_no_conversation_is_refused(text):
    with pytest.raises(RatsearchError, match="exported here"):
        kept.from_json(text)


def test_a_conversation_as_markdown():
    assert kept.to_markdown(TURNS) == (
        "## What is a rat?\n\n→ `read_article | Rat`\n\nA rodent.\n\nRead:\n```text\na.zim/Rat\n```\n\n"
        "## Really?\n\nYes.\n"
    )


def test_what_was_read_is_linked_once_below_the_answer():
    again = Panel("result", "result-9", state="done", source="a.zim/Rat", name="Rat")
    hostile = Panel("result", "result-8", state="done", source="a.zim/a)b?#", name="[x](javascript:1)<b>")
    *_, last = turn_messages([*PANELS, again, hostile], 0)
    assert last["content"][0]["text"] == (
        r"Read: [Rat](archive/a.zim/Rat?read=A+rodent.) · [&#91;x](javascript:1)\<b>](archive/a.zim/a%29b%3F%23)"
    )
    assert "archive/" not in str(turn_messages([*PANELS, Panel("status", "status")], 0)[-1])


def test_an_address_has_no_more_of_a_passage_than_finds_it():
    link = article_link("a.zim/Rat", ["word " * 1000] * 9)
    assert link.count("read=") == 3
    assert len(link) < 600


@pytest.mark.parametrize(
    ("box", "question"), [("\u2060Is a[0] \\*?", "Is a[0] \\*?"), ("Is a&#91;0] \\*?", "Is a[0] *?")]
)
def test_an_edited_question(box, question):
    assert edited(box) == question


def test_the_place_in_line_is_shown():
    view = TurnView(lambda: 0.0)
    view.feed(InLine(2))
    assert view.panels[-1].title.endswith("Waiting: 2 questions before this one")


async def test_first_come_first_served():
    line = Line(2)
    first, second, third, fourth = (line.join() for _ in range(4))
    assert [line.ahead(each) for each in (first, second, third, fourth)] == [0, 0, 1, 2]
    waiting = asyncio.ensure_future(line.moved())
    await asyncio.sleep(0)
    line.leave(third)  # who waits may go
    await waiting
    assert line.ahead(fourth) == 1
    line.leave(first)
    assert line.ahead(fourth) == 0


def test_errors_are_explained_before_anything_is_open():
    assert Answering(Future(), Options()).explain(RatsearchError("It is so.")) == "It is so."


@pytest.mark.parametrize(
    ("client", "host", "more", "owns"),
    [
        ("127.0.0.1", "127.0.0.1:7860", {}, True),
        ("::1", "[::1]:7860", {}, True),
        ("127.0.0.1", "localhost:7860", {}, True),
        ("192.168.1.7", "192.168.1.2:7860", {}, False),
        ("127.0.0.1", "evil.example", {}, False),  # a name that its owner points at this machine
        ("127.0.0.1", "127.0.0.1:7860", {"x-forwarded-for": "9.9.9.9"}, False),
        ("127.0.0.1", "", {}, False),
    ],
)
def test_who_is_the_owner(client, host, more, owns):
    args = argparse.Namespace(owner_token="cheese", share=False)
    assert serving.Owner(args).is_asking(client, {"host": host, **more}) is owns
    assert serving.Owner(args).is_asking(client, {"host": host, **more}, "cheese")
    assert serving.Owner(args).is_asking(client, {"host": host, **more}, "chees") is owns
    args.share = True
    assert not serving.Owner(args).is_asking(client, {"host": host, **more})


@pytest.mark.parametrize(
    ("host", "share", "auth", "warned"),
    [
        ("127.0.0.1", False, None, False),
        ("0.0.0.0", False, None, True),
        ("::", False, None, True),
        ("127.0.0.1", True, None, True),
        ("0.0.0.0", True, ("rat", "cheese"), False),
    ],
)
def test_serving_to_everyone_is_warned_of(host, share, auth, warned):
    assert bool(serving.warning(argparse.Namespace(host=host, share=share, auth=auth))) is warned


def test_thumbs_are_lines_of_a_file(tmp_path, monkeypatch):
    file = tmp_path / "new" / "feedback.jsonl"
    monkeypatch.setattr(feedback, "feedback_file", lambda: file)
    for liked in (True, None):
        feedback.save(TURNS[0], liked, "small", "a.zim")
    first, second = map(json.loads, file.read_text("utf-8").splitlines())
    assert first.pop("when").endswith("+00:00")
    assert first == {
        "liked": True,
        "question": "What is a rat?",
        "answer": "A rodent.",
        "sources": ["a.zim/Rat"],
        "model": "small",
        "archive": "a.zim",
    }
    assert second["liked"] is None


@pytest.mark.parametrize(
    ("typed", "temperature", "max_tokens"),
    [
        (("", ""), None, None),
        (("0", "0"), 0, None),
        (("0,7", "77"), 0.7, 77),
        (("nan", "inf"), None, None),
        (("9", "x"), None, None),
    ],
)
def test_settings_that_cannot_be_are_the_servers(typed, temperature, max_tokens):
    chosen = Settings.of(" ", "", None, "magic", *typed, "Be a rat.", None, True)
    assert chosen == Settings("", "", "", "auto", temperature, max_tokens, "Be a rat.", 10, True)
