"""The chat in a notebook, as Python sees it: what is drawn, what is stopped. test_jupyterlab.py looks at it there."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ratsearch_lib import Agent, ChatClient
from ratsearch_lib.view import Panel
from ratsearch_lib.widgets import ChatWidget, ProgressWidget, panel_html, turn_text

from .conformance.server import HOLD, ScriptedServer, call, error_reply, finish, say, sse, text

KINDS = ("status", "reasoning", "tool", "result", "notice", "error")
LONG_S = 30  # how long a test waits for what happens at once


def read_article(title: str) -> str:
    """read an article"""
    return f"Article: {title}\n\n<b>A rodent.</b>"


@pytest.fixture
def chat_with():
    """A chat with a server that follows a script."""
    with_servers = []

    def make(script):
        server = ScriptedServer(script)
        with_servers.append(server)
        return ChatWidget(Agent(ChatClient(server.__enter__().base_url), [read_article], mode="tools")), server

    yield make
    for server in with_servers:
        server.__exit__(None, None, None)


def drawn(chat):
    """The HTML of the last turn."""
    return "".join(widget.value for widget in chat._drawn.children[-1].children)


def test_shows_what_was_read_and_answered(chat_with):
    chat, _ = chat_with([call("read_article", {"title": "Rat"}), say("**A rodent.**")])
    chat.ask("What is a rat?", wait=True)
    html = drawn(chat)
    assert "read_article | Rat" in html
    assert "&lt;b&gt;A rodent.&lt;/b&gt;" in html
    assert "<strong>A rodent.</strong>" in html
    assert chat.text() == (
        "> What is a rat?\n\n[read_article | Rat]\n\n  Article: Rat\n  \n  <b>A rodent.</b>\n\n**A rodent.**\n\n"
        "1 of 1 sentence found in Rat."
    )
    assert [message["role"] for message in chat.messages] == ["user", "assistant", "tool", "assistant"]
    assert chat._repr_mimebundle_()["text/plain"] == chat.text()
    assert chat._stop.disabled
    assert not chat._send.disabled


def test_the_conversation_goes_on_and_is_forgotten(chat_with):
    chat, server = chat_with([say("A rodent."), say("Seeds.")])
    chat.ask("What is a rat?", wait=True)
    chat.ask("What does it eat?", wait=True)
    asked = server.requests[-1].json["messages"]
    assert [message["content"] for message in asked[1:]] == ["What is a rat?", "A rodent.", "What does it eat?"]
    chat.clear()
    assert (chat.messages, chat.turns, chat._drawn.children) == ([], [], ())


def test_stop_ends_the_request_and_keeps_what_came(chat_with):
    chat, server = chat_with([sse(text("A ro"), HOLD, text("dent."), finish()), say("Hello.")])
    chat.ask("What is a rat?")
    assert server.holding.wait(LONG_S)
    assert chat.is_running
    chat.stop()
    assert server.closed.wait(LONG_S)
    chat._thread.join(LONG_S)
    assert not chat.is_running
    assert "Stopped." in chat.text()
    assert "dent." not in chat.text()
    chat.ask("Hello?", wait=True)
    assert chat.text().endswith("Hello.")


def test_asks_nothing_twice_and_nothing_empty(chat_with):
    chat, server = chat_with([sse(text("A ro"), HOLD, finish())])
    chat.ask("What is a rat?")
    assert server.holding.wait(LONG_S)
    chat.ask("And a mouse?")
    chat.ask("   ")
    assert len(chat.turns) == 1
    chat.stop()


def test_a_failure_is_told_and_the_chat_goes_on(chat_with):
    chat, _ = chat_with([error_reply(400, "no such template"), say("Hello.")])
    chat.ask("What is a rat?", wait=True)
    assert "no such template" in chat.text()
    assert "<b>Error.</b>" in drawn(chat)
    chat.ask("Hello?", wait=True)
    assert chat.text().endswith("Hello.")


@given(st.sampled_from(KINDS), st.text(), st.text(), st.text())
def test_no_text_becomes_markup(kind, title, body, result):
    hostile = "<script>x</script><img src=x onerror=y>"
    panel = Panel(kind, "k", title=title + hostile, body=body + hostile)
    tree = LexborHTMLParser(panel_html(panel, [Panel("result", "r", body=result + hostile)]))
    assert tree.css("script, img, [onerror]") == []


@given(st.text())
def test_an_answer_is_markdown_without_html_pictures_and_code(body):
    hostile = "<script>x</script> ![x](http://x.org/y.png) [x](javascript:alert(1)) <img src=x>"
    tree = LexborHTMLParser(panel_html(Panel("answer", "a", body=f"{body}\n\n{hostile}")))
    assert tree.css("script, img, iframe") == []
    assert all(not (link.attributes.get("href") or "").startswith("javascript:") for link in tree.css("a"))


def test_plain_text_shortens_results():
    panels = [Panel("tool", "t", title="read_article | Rat"), Panel("result", "r", body="\n".join("abcdef"))]
    assert turn_text("?", panels).endswith("  a\n  b\n  c\n  d\n  …")


def test_progress_shows_itself_only_if_it_takes_a_while(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    with ProgressWidget("Indexing") as progress:
        progress(1, 2)
        assert shown == []
        progress._started -= 60
        progress(1, None)
        progress(2, 4)
        assert (shown[0].value, shown[0].max, shown[0].description) == (2, 4, "Indexing")


def test_the_button_and_the_kernels_thread_are_not_held(chat_with):
    chat, server = chat_with([sse(text("A"), HOLD, finish())])
    chat._question.value = "What is a rat?"
    chat._send.click()
    assert threading.current_thread() is not chat._thread
    assert server.holding.wait(LONG_S)
    assert chat._question.value == ""
    chat._stop.click()
    chat._thread.join(LONG_S)
    assert "Stopped." in chat.text()
