"""Panels as messages of the chat, and a visitor's conversation; the page itself is in test_app.py."""

import asyncio
import re
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.agent.events import Notice, Prefill, RunFinished, TextDelta, ToolCall, ToolResult, Usage
from ratsearch_lib.errors import ServerUnreachable
from ratsearch_lib.ui.conversation import Conversation
from ratsearch_lib.ui.messages import MAX_RESULT_CHARS, as_typed, code_span, fence, inert, turn_messages, typed
from ratsearch_lib.view import Panel, TurnView


def text_of(message: dict) -> str:
    (part,) = message["content"]
    return part["text"]


# Text that does nothing


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("a < b <script>", "a &lt; b &lt;script>"),
        ("`<b>` and <b>", "`<b>` and &lt;b>"),
        ("```html\n<b>\n```\n<b>", "```html\n<b>\n```\n&lt;b>"),
        ("~~~\n<b>\n```\n~~~ \n<b>", "~~~\n<b>\n```\n~~~ \n&lt;b>"),
        ("```\nnot closed <b>", "```\nnot closed <b>"),
        ("one ` only <b>\n\n` here", "one ` only &lt;b>\n\n` here"),
        (r"\(a < b\) < c", r"\(a \lt  b\) &lt; c"),
        ("![x](http://evil.example/x.png)", r"!\[x](http://evil.example/x.png)"),
        ("```mermaid\nA\n```\n> ~~~~ mermaid x", "```text\nA\n```\n> ~~~~ text x"),
        ("$3000 and **bold** > all", "$3000 and **bold** > all"),
    ],
)
def test_html_of_an_answer_is_shown_and_not_obeyed(markdown, shown):
    assert inert(markdown) == shown


@given(st.text(alphabet="`~<!\\()[]\n ab"))
def test_only_code_keeps_a_less_than_sign(markdown):
    shown = inert(markdown)
    if "`" not in markdown and "~~~" not in markdown:
        assert "<" not in shown
        assert "![" not in shown


def test_what_a_person_typed_is_shown_as_typed():
    assert as_typed("Is 2*3*4 < 25?\n# 1\n1. x") == "Is 2\\*3\\*4 \\< 25?\n\\# 1\n1\\. x"
    assert as_typed("What's the largest mammal in North America?") == "What's the largest mammal in North America?"


@given(st.text())
def test_an_edited_question_is_taken_as_it_was_typed(question):
    assert typed(as_typed(question)) == question


@given(st.text(alphabet="`ab\n "))
def test_nothing_inside_closes_a_code_span_or_block(text):
    ticks = re.match("`+", code_span(text))[0]
    assert ticks not in re.findall("`+", text)
    first, *_, last = fence(text).split("\n")
    assert last not in re.findall("`+", text)
    assert first == f"{last}text"


def test_a_call_with_its_result():
    call = Panel("tool", "tool-1", "search | x", '{\n  "q": "x"\n}', "error", duration_s=0.04)
    result = Panel("result", "result-2", "Error: <b>", "no `such` tool", "error", "14 characters", 0.04, "tool-1")
    first, second = turn_messages([call, result], 3)
    assert first["metadata"] == {"title": "`search | x` failed", "id": "3-tool-1", "status": "done", "duration": 0.04}
    assert text_of(first) == '```text\n{\n  "q": "x"\n}\n```'
    assert second["metadata"] == {
        "title": "`Error: <b>`",
        "id": "3-result-2",
        "log": "14 characters",
        "parent_id": "3-tool-1",
    }
    assert text_of(second) == "```text\nno `such` tool\n```"


def test_a_long_result_says_how_much_is_not_shown():
    (message,) = turn_messages([Panel("result", "r", body="x" * (MAX_RESULT_CHARS + 1234))], 0)
    assert "1,234 more characters" in text_of(message)
    assert len(text_of(message)) < MAX_RESULT_CHARS + 100


def test_the_rat_keeps_its_place():
    (message,) = turn_messages(TurnView(lambda: 0.0).panels, 0)
    assert text_of(message) == "`\xa0\xa0<8=~~\xa0Processing…`"


def test_half_a_surrogate_pair_can_be_sent():
    (message,) = turn_messages([Panel("answer", "a", body="x\ud800y")], 0)
    assert text_of(message).encode("utf-8")


# A conversation


def finished(question: str, answer: str, messages=()) -> RunFinished:
    said = [*messages, {"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return RunFinished(answer, said, Usage(), "answered")


class Script:
    """An agent that says what it is given, keeps what it was asked, and may wait for ever before it ends."""

    def __init__(self, *events, waits=False, error=None):
        self.events, self.waits, self.error = events, waits, error
        self.asked: list[tuple[str, list]] = []
        self.waiting = asyncio.Event()
        self.closed = False

    async def __call__(self, question, messages):
        self.asked.append((question, list(messages)))
        try:
            for event in self.events:
                yield event
            if self.error:
                raise self.error
            if self.waits:
                self.waiting.set()
                await asyncio.Event().wait()
            yield finished(question, "Bison.", messages)
        finally:
            self.closed = True


async def answer(conversation: Conversation, question: str, run) -> list[list[dict]]:
    async with aclosing(conversation.ask(question, run)) as chats:
        return [chat async for chat in chats]


def texts(chat: list[dict]) -> list[tuple[str, str]]:
    return [(message["role"], text_of(message)) for message in chat]


async def test_questions_follow_each_other():
    conversation = Conversation()
    script = Script(Prefill(5, 5), TextDelta("Bi"), TextDelta("son."))
    first, *_, last = await answer(conversation, "Largest?", script)
    assert [role for role, _ in texts(first)] == ["user", "assistant"]  # the rat runs at once
    assert texts(last) == [("user", "Largest?"), ("assistant", "Bison.")]
    *_, last = await answer(conversation, "Really?", script)
    assert len(last) == 4
    assert script.asked[1][1] == finished("Largest?", "Bison.").messages
    assert not conversation.running


async def test_stop_closes_the_run_and_keeps_what_was_said():
    conversation = Conversation()
    script = Script(TextDelta("Once upon"), waits=True)
    shown = []
    async for chat in conversation.ask("A tale?", script):
        shown.append(chat)
        if script.waiting.is_set():
            conversation.stop()
    assert script.closed
    assert texts(shown[-1]) == [
        ("user", "A tale?"),
        ("assistant", "Once upon"),
        ("assistant", "> Stopped."),
    ]
    again = Script(TextDelta("Fine."))
    await answer(conversation, "Go on.", again)
    assert again.asked[0][1] == finished("A tale?", "Once upon").messages


async def test_a_closed_tab_closes_the_run():
    conversation = Conversation()
    script = Script(Prefill(1, 9), waits=True)
    async with aclosing(conversation.ask("A tale?", script)) as chats:
        async for _ in chats:
            if script.waiting.is_set():
                break
    assert script.closed
    assert not conversation.running


async def test_a_failed_run_says_why_after_what_it_had_said():
    conversation = Conversation()
    script = Script(Notice("So far so good."), error=ServerUnreachable("Nothing answers at x_y: start it."))
    *_, last = await answer(conversation, "Hm?", script)
    assert texts(last)[1:] == [
        ("assistant", "> So far so good."),
        ("assistant", r"> **Error.** Nothing answers at x\_y: start it."),
    ]
    assert not conversation.running


async def test_taking_back_and_starting_anew():
    conversation = Conversation()
    script = Script(ToolCall("1", "f", {}), ToolResult("1", "x", False, None, None, 0.1), TextDelta("Yes."))
    for question in ("One?", "Two?", "Three?"):
        await answer(conversation, question, script)
    assert [conversation.turn_at(message) for message in (0, 3, 4, 7, 8, 11)] == [0, 0, 1, 1, 2, 2]
    assert conversation.take_back(1) == "Two?"
    assert [text for role, text in texts(conversation.shown()) if role == "user"] == ["One?"]
    conversation.clear()
    assert conversation.shown() == []
    assert conversation.take_back() == ""


async def test_a_cleared_conversation_stays_clear_and_one_answer_is_written_at_a_time():
    conversation = Conversation()
    script, other = Script(TextDelta("Once"), waits=True), Script(TextDelta("New."))
    async for _ in conversation.ask("A tale?", script):
        if script.waiting.is_set() and conversation.running:
            assert await answer(conversation, "Me too?", other) == []
            conversation.clear()
            *_, last = await answer(conversation, "Anew?", other)
            assert texts(last) == [("user", "Anew?"), ("assistant", "New.")]
    assert script.closed
    assert texts(conversation.shown()) == [("user", "Anew?"), ("assistant", "New.")]
    assert other.asked == [("Anew?", [])]


async def test_blank_questions_are_not_asked():
    script = Script()
    assert await answer(Conversation(), " \n", script) == []
    assert script.asked == []
