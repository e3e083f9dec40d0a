"""Panels as messages of the chat, and a visitor's conversation; the page itself is in test_app.py."""

import asyncio
import inspect
import re
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import app
from ratsearch_lib.agent.events import (
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
from ratsearch_lib.errors import RatsearchError, ServerUnreachable
from ratsearch_lib.ui import serving
from ratsearch_lib.ui.conversation import Conversation, batches
from ratsearch_lib.ui.inert import inert
from ratsearch_lib.ui.messages import MAX_RESULT_CHARS, as_typed, code_span, fence, turn_messages, typed
from ratsearch_lib.ui.quick_import import no_type_stubs
from ratsearch_lib.view import Panel, TurnView

from .hostile import INJECTIONS


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
        (r"\(a < b\) < c", r"\(a &lt; b\) &lt; c"),  # TeX is put back as HTML
        ('```\ns/\\(<b>\\)/"/\n```', '```\ns/\\(&lt;b>\\)/"/\n```'),  # which is also done in code
        ("![x](http://evil.example/x.png)", "!&#91;x](http://evil.example/x.png)"),
        ("1. Do\n   ```html\n   <b>\n   ```\n   <b>", "1. Do\n   ```html\n   <b>\n   ```\n   &lt;b>"),
        ("See [x](http://e/x), ``a ` <b>``.", "See [x](http://e/x), ``a ` <b>``."),
        ("|x|y|\n|-|-|\n|`<b>`|bold|", "|x|y|\n|-|-|\n|`<b>`|bold|"),
        ("```mermaid\nA\n```\n> ~~~~ mermaid x", "```text\nA\n```\n> ~~~~ text x"),
        ("$3000 and **bold** > all", "$3000 and **bold** > all"),
    ],
)
def test_html_of_an_answer_is_shown_and_not_obeyed(markdown, shown):
    assert inert(markdown) == shown


MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def as_the_page_reads(markdown: str) -> str:
    """The page takes TeX out before it reads Markdown."""
    for left, right in (("[", "]"), ("(", ")")):
        markdown = re.sub(rf"\\\{left}[\s\S]+?\\\{right}", "%%%LATEX_BLOCK_0%%%", markdown)
    return markdown


def alive(markdown: str) -> list[str]:
    """The HTML and pictures that a CommonMark parser finds."""
    tokens = [token for block in MARKDOWN.parse(markdown) for token in (block, *(block.children or ()))]
    return [token.content for token in tokens if token.type in ("html_block", "html_inline", "image")]


PIECES = """` `` ``` ~~~ <img> ![a](b) [a]( [a]
    ]( ) \\ \\( \\) \\[ \\] | |-| x `<b>` [a]: ' " < # http://e/ * - 1. >""".split()
PIECES += [
    "\n",
    "\n\n",
    " ",
    "   ",
    "    ",
    "\t",
    "- ",
    "1. ",
    "> ",
    "```\n",
    "   ```\n",
    "\n```\n",
    "\n|a|b|\n|-|-|\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(max_examples=300)
def test_a_careful_reader_finds_no_html_and_no_pictures(markdown):
    shown = inert(markdown)
    assert alive(shown) == []
    assert alive(as_the_page_reads(shown)) == []


@pytest.mark.parametrize("markdown", INJECTIONS)
def test_injections_are_inert(markdown):
    for text in (markdown, f"{markdown}\n\n`<b>`", f"- x\n  {markdown}"):
        assert alive(inert(text)) == []
        assert alive(as_the_page_reads(inert(text))) == []
    assert '"' not in "".join(re.findall(r"\\\(.*?\\\)", inert(markdown), re.DOTALL))


@pytest.mark.parametrize("opening", ["\\[", "\\(", "`", "` ``", "](", "@", "```\n", "- ```\n", "    ```\n\n"])
def test_many_unclosed_delimiters_are_read_once(opening):
    many = opening * (300_000 // len(opening))  # minutes, if each were looked for to the end
    assert alive(inert(many + "<img>")[-100:]) == []


def test_a_finished_panel_is_drawn_once():
    view = TurnView()
    for event in (ReasoningDelta("hm"), TextDelta("a")):
        view.feed(event)
    finished: dict = {}
    thought, answer = turn_messages(view.panels, 0, finished)
    view.feed(TextDelta("b"))
    again, longer = turn_messages(view.panels, 0, finished)
    assert again is thought
    assert (text_of(answer), text_of(longer)) == ("a", "ab")
    view.feed(TextWasReasoning())
    assert "metadata" in turn_messages(view.panels, 0, finished)[1]


@given(st.text(alphabet="`~<!\\()[]\n ab"))
def test_only_code_keeps_a_less_than_sign(markdown):
    shown = inert(markdown)
    if "`" not in markdown and "~~~" not in markdown:
        assert "<" not in shown
        assert "![" not in shown


def test_what_a_person_typed_is_shown_as_typed():
    assert as_typed("Is 2*3*4 < 25?\n# 1\n1. x") == "Is 2\\*3\\*4 \\< 25?\n\\# 1\n1\\. x"
    assert as_typed("Is list[0] = [1, 2]?") == "Is list&#91;0] = &#91;1, 2]?"
    assert as_typed("What's the largest mammal in North America?") == "What's the largest mammal in North America?"


@given(st.text() | st.text(alphabet="\\[]()&#912;*`ab "))
def test_an_edited_question_is_taken_as_it_was_typed(question):
    assert typed(as_typed(question)) == question


@given(st.text(alphabet="\\[](){}$&#912;!*`<ab"))
def test_a_question_is_neither_tex_nor_markdown_to_the_page(question):
    shown = as_the_page_reads(as_typed(question))
    (paragraph,) = [token for token in MARKDOWN.parse("." + shown) if token.type == "inline"]
    assert all(token.type in ("text", "text_special") for token in paragraph.children)
    assert "".join(token.content for token in paragraph.children) == "." + question


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


async def broken(question, messages):
    yield TextDelta("Rats are")
    raise KeyError("secret detail")


async def test_a_fault_of_our_own_is_an_error_panel_and_the_log_has_it(caplog):
    conversation = Conversation()
    *_, last = await answer(conversation, "What are rats?", broken)
    assert [text for _, text in texts(last)] == [
        "What are rats?",
        "Rats are",
        "> **Error.** Something went wrong in ratsearch itself: KeyError; the log has the details.",
    ]
    assert not conversation.running
    assert "secret detail" in caplog.text


async def test_what_cannot_be_drawn_is_an_error_panel_too(monkeypatch, caplog):
    def broken_drawing(*_):
        raise IndexError

    monkeypatch.setattr("ratsearch_lib.ui.conversation.turn_messages", broken_drawing)
    conversation = Conversation()
    *_, last = await answer(conversation, "What are rats?", broken)
    assert texts(last)[0] == ("user", "What are rats?")
    assert "Something went wrong in ratsearch itself: IndexError" in texts(last)[1][1]
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


async def test_reasoning_that_looked_like_an_answer_is_not_kept():
    conversation = Conversation()
    script = Script(TextDelta("I should think."), TextWasReasoning(), TextDelta("Bi"), waits=True)
    async for _ in conversation.ask("A tale?", script):
        if script.waiting.is_set():
            conversation.stop()
    assert conversation.turns[0].messages == finished("A tale?", "Bi").messages


async def test_stop_does_not_wait_for_the_next_drawing():
    events, stopped = asyncio.Queue(), asyncio.Event()

    async def run():
        while True:
            yield await events.get()

    events.put_nowait(TextDelta("Once"))
    asyncio.get_running_loop().call_later(0.01, stopped.set)
    async with aclosing(batches(run(), 3600, stopped)) as groups:
        assert [group async for group in groups] == [[TextDelta("Once")]]


async def test_stop_from_another_thread():
    conversation = Conversation()
    script = Script(TextDelta("Once"), waits=True)
    async for _ in conversation.ask("A tale?", script):
        if script.waiting.is_set() and conversation.running:
            await asyncio.to_thread(conversation.stop)
    assert script.closed


async def test_a_failed_run_leaves_what_the_agent_had_received():
    received = [*finished("Hm?", "").messages[:1], {"role": "assistant", "content": "So far"}]
    error = ServerUnreachable("Nothing answers.")
    error.messages = received
    conversation = Conversation()
    await answer(conversation, "Hm?", Script(TextDelta("Something else"), error=error))
    again = Script()
    await answer(conversation, "Go on.", again)
    assert again.asked == [("Go on.", received)]


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_a_port_that_cannot_be_is_refused_at_once(port, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["app.py", "--port", port])
    with pytest.raises(SystemExit) as ended:
        app.parse_arguments()
    assert ended.value.code == 2
    assert "argument --port: " in capsys.readouterr().err


def test_a_host_that_is_not_known_ends_the_program_with_a_sentence():
    command = [sys.executable, "app.py", "--host", "nope.invalid"]
    ended = subprocess.run(command, cwd=Path(app.__file__).parent, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr.startswith("ratsearch: The page cannot be served at nope.invalid: ")
    with pytest.raises(RatsearchError, match="cannot be served"):
        serving.check_host("x" * 64 + ".invalid")
    for known in ("127.0.0.1", "0.0.0.0", "::1", "localhost"):
        serving.check_host(known)


def test_nothing_drives_the_terminal_that_the_page_is_started_from(capsys):
    app.say("model \x1b]0;owned\x07 at http://127.0.0.1")
    assert capsys.readouterr().out == "model ␛]0;owned␇ at http://127.0.0.1\n"


def test_gradio_is_imported_without_its_type_stubs():
    import gradio  # with or without, it is there by now

    with no_type_stubs():
        with pytest.raises(OSError, match="left out"):
            inspect.getfile(gradio.Textbox)
        assert inspect.getfile(Path).endswith("pathlib.py")
    assert inspect.getfile(gradio.Textbox).endswith("textbox.py")
