"""events → panels."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.agent import events as event_module
from ratsearch_lib.agent.events import (
    ContextTrimmed,
    Evidence,
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
from ratsearch_lib.evidence import SentenceEvidence
from ratsearch_lib.view import FRAME_S, TurnView


class Clock:
    """Seconds that pass only when told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def finished(answer="", stop_reason="answered") -> RunFinished:
    return RunFinished(answer, [], Usage(), stop_reason)


def kinds(view: TurnView) -> list[str]:
    return [panel.kind for panel in view.panels]


def test_a_whole_turn():
    clock = Clock()
    view = TurnView(clock)
    assert kinds(view) == ["status"]

    view.feed(Prefill(2210, 2210))
    view.feed(ReasoningDelta("Look it "))
    clock.now += 2.5
    view.feed(ReasoningDelta("up."))
    view.feed(Generated(57))
    thought = view.panels[0]
    assert (thought.body, thought.state, thought.log) == ("Look it up.", "pending", "57 tokens")

    view.feed(ToolCall("c1", "read_article", {"title": "Largest mammal"}))
    assert kinds(view) == ["reasoning", "tool"]
    assert (thought.title, thought.state, thought.duration_s) == ("Thought", "done", 2.5)
    tool = view.panels[1]
    assert (tool.title, tool.state) == ("read_article | Largest mammal", "pending")
    assert json.loads(tool.body) == {"title": "Largest mammal"}

    view.feed(ToolResult("c1", "Article: Bison\nheavy", False, "Bison", "x.zim/A/Bison", 0.04))
    assert kinds(view) == ["reasoning", "tool", "result", "status"]
    result = view.panels[2]
    assert (tool.state, tool.duration_s) == ("done", 0.04)
    assert (result.parent, result.title, result.body) == (tool.key, "Read: Bison", "Article: Bison\nheavy")
    assert result.log == "20 characters"

    view.feed(TextDelta("The bison"))
    view.feed(TextDelta("."))
    view.feed(finished("The bison."))
    assert kinds(view) == ["reasoning", "tool", "result", "answer"]
    assert view.panels[-1].body == "The bison."
    assert {panel.state for panel in view.panels} == {"done"}
    assert len({panel.key for panel in view.panels}) == 4


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Prefill(2210, 2210), "2210 tokens Reading…"),
        (Prefill(2210, 0), "2210 tokens Reading…"),
        (Prefill(512, 2210), "512 of 2210 tokens Reading…"),
        (Prefill(0, 0), "Processing…"),
        (Generated(57), "57 tokens Thinking…"),
        (Generated(1), "1 token Thinking…"),
    ],
)
def test_the_rat_says_what_is_waited_for(event, words):
    view = TurnView(Clock())
    assert view.panels[0].title.endswith("Processing…")
    view.feed(event)
    (status,) = view.panels
    assert status.title.endswith(" " + words)


def test_the_rat_runs_left_and_back():
    clock = Clock()
    clock.now = 0.0
    view = TurnView(clock)
    seen = []
    for _ in range(7):
        seen.append(view.panels[0].title.removesuffix(" Processing…"))
        clock.now += FRAME_S * 1.001
        view.tick()
    assert seen == ["  <8=~~", " <8=~~ ", "<8=~~  ", "~~=8>  ", " ~~=8> ", "  ~~=8>", "  <8=~~"]


def test_a_new_step_counts_its_own_tokens():
    view = TurnView()
    view.feed(ReasoningDelta("a"))
    view.feed(Generated(40))
    view.feed(ToolCall("1", "f", {}))
    view.feed(ToolResult("1", "x", False, None, None, 0.0))
    view.feed(ReasoningDelta("b"))
    view.feed(Generated(3))
    view.feed(TextDelta("c"))
    view.feed(Generated(10))
    assert [panel.log for panel in view.panels if panel.kind in ("reasoning", "answer")] == [
        "40 tokens",
        "3 tokens",
        "7 tokens",
    ]


def test_calls_with_the_same_id_keep_their_own_results():
    view = TurnView()
    for title in ("Rat", "Mouse"):
        view.feed(ToolCall("call_0", "read_article", {"title": title}))
        view.feed(ToolResult("call_0", f"Article: {title}", False, title, None, 0.0))
    tools = [panel for panel in view.panels if panel.kind == "tool"]
    results = [panel for panel in view.panels if panel.kind == "result"]
    assert [(result.parent, result.title) for result in results] == [
        (tools[0].key, "Read: Rat"),
        (tools[1].key, "Read: Mouse"),
    ]


def test_a_result_stands_under_its_call_when_calls_were_announced_together():
    view = TurnView()
    view.feed(ToolCall("a", "f", {}))
    view.feed(ToolCall("b", "f", {}))
    view.feed(ToolResult("a", "first", False, None, None, 0.0))
    assert kinds(view) == ["tool", "result", "tool"]
    view.feed(ToolResult("b", "second", True, None, None, 0.0))
    assert kinds(view) == ["tool", "result", "tool", "result", "status"]
    assert [panel.state for panel in view.panels] == ["done", "done", "error", "error", "pending"]


@pytest.mark.parametrize(
    ("result", "title"),
    [
        (ToolResult("c", "Article not found. Related articles:\nRat", False, None, None, 0.1), "Article not found. "),
        (ToolResult("c", "Unknown tool: search", True, None, None, 0.1), "Error: Unknown tool: search"),
        (ToolResult("c", "", False, None, None, 0.1), "Empty result"),
    ],
)
def test_a_results_title_says_what_it_is(result, title):
    view = TurnView()
    view.feed(ToolCall("c", "read_article", {}))
    view.feed(result)
    assert view.panels[1].title.startswith(title)


def test_words_beside_a_call_are_a_panel_of_their_own_and_blank_lines_are_none():
    view = TurnView()
    view.feed(TextDelta("\n\n"))
    view.feed(TextDelta("\nLet me look."))
    view.feed(ToolCall("c", "read_article", {"title": "Rat"}))
    view.feed(ToolResult("c", "Article: Rat", False, "Rat", None, 0.0))
    view.feed(TextDelta("\n"))
    view.feed(TextDelta("Rodents."))
    view.feed(TextDelta("\n"))
    assert [(panel.kind, panel.body) for panel in view.panels if panel.kind == "answer"] == [
        ("answer", "Let me look."),
        ("answer", "Rodents.\n"),
    ]


def test_a_notice_does_not_cut_an_answer_in_two():
    view = TurnView()
    view.feed(TextDelta("one "))
    view.feed(Notice("The server is slow."))
    view.feed(TextDelta("two"))
    assert [(panel.kind, panel.body) for panel in view.panels] == [
        ("notice", "The server is slow."),
        ("answer", "one two"),
    ]


def test_an_answer_that_was_not_streamed_is_shown():
    view = TurnView()
    view.feed(finished("Bison."))
    assert [(panel.kind, panel.body) for panel in view.panels] == [("answer", "Bison.")]


@pytest.mark.parametrize(
    ("reason", "word"),
    [("length", "token limit"), ("max_steps", "tools"), ("repeated", "read already"), ("empty", "empty")],
)
def test_the_person_is_told_why_an_answer_is_what_it_is(reason, word):
    view = TurnView()
    view.feed(finished("", reason))
    assert view.panels[-1].kind == "notice"
    assert word in view.panels[-1].body


def test_text_that_was_reasoning_is_shown_as_such():
    view = TurnView()
    view.feed(TextDelta("I should think…"))
    view.feed(TextWasReasoning())
    assert [(panel.kind, panel.state, panel.title) for panel in view.panels] == [("reasoning", "done", "Thought")]
    view.feed(TextDelta("The bison."))
    view.feed(finished("The bison."))
    assert [(panel.kind, panel.body) for panel in view.panels] == [
        ("reasoning", "I should think…"),
        ("answer", "The bison."),
    ]


def test_only_this_steps_text_was_reasoning():
    view = TurnView()
    view.feed(TextDelta("Let me look."))
    view.feed(ToolCall("c", "read_article", {"title": "Rat"}))
    view.feed(ToolResult("c", "Article: Rat", False, "Rat", None, 0.0))
    view.feed(Prefill(0, 0))
    for event in (TextDelta("It says"), ReasoningDelta("hm"), TextDelta("so"), TextWasReasoning(), TextDelta("Yes.")):
        view.feed(event)
    assert [(panel.kind, panel.body) for panel in view.panels if panel.kind in ("reasoning", "answer")] == [
        ("answer", "Let me look."),
        ("reasoning", "It says"),
        ("reasoning", "hm"),
        ("reasoning", "so"),
        ("answer", "Yes."),
    ]


def test_what_was_forgotten_is_told():
    view = TurnView()
    view.feed(TextDelta("one "))
    view.feed(ContextTrimmed(results=1, turns=2, tokens=3456))
    view.feed(TextDelta("two"))
    notice, answer = view.panels
    assert answer.body == "one two"
    assert notice.kind == "notice"
    assert notice.body.endswith("1 result was cut, 2 turns were left out (about 3,456 tokens).")


CHANGES = {  # what each kind of event does to "some text", being written
    Prefill: ["answer some text", "status "],
    Generated: ["answer some text"],  # and its log: "3 tokens"
    ReasoningDelta: ["answer some text", "reasoning hm"],
    TextDelta: ["answer some text more"],
    TextWasReasoning: ["reasoning some text"],
    ToolCall: ["answer some text", "tool {}"],
    ToolResult: ["result text", "answer some text"],
    ContextTrimmed: ["notice The conversation no longer fits", "answer some text"],
    Notice: ["notice remark", "answer some text"],
    Evidence: ["answer some text", "notice 0 of 1 sentence found in what was read. Check: “some text”"],
    RunFinished: ["answer some text", "notice The reply was cut off"],
}
EXAMPLES = [
    Prefill(5, 9),
    Generated(3),
    ReasoningDelta("hm"),
    TextDelta(" more"),
    TextWasReasoning(),
    ToolCall("a", "f", {}),
    ToolResult("z", "text", False, None, None, 0.0),
    ContextTrimmed(1, 1, 10),
    Notice("remark"),
    Evidence("some text", (SentenceEvidence("some text", "not found", end=9),)),
    finished("some text", "length"),
]


def event_types() -> set[type]:
    """Every dataclass of the module is an event, but those that `RunFinished` and `Evidence` hold."""
    return {each for each in vars(event_module).values() if dataclasses.is_dataclass(each)} - {Usage, SentenceEvidence}


def test_no_event_goes_by_unseen():
    assert set(CHANGES) == {type(event) for event in EXAMPLES} == event_types()
    for event in EXAMPLES:
        view = TurnView()
        view.feed(TextDelta("some text"))
        view.feed(event)
        expected = CHANGES[type(event)]
        assert len(view.panels) == len(expected)
        for panel, start in zip(view.panels, expected, strict=True):
            assert f"{panel.kind} {panel.body}".startswith(start)
    assert [panel.log for panel in fed(TextDelta("x"), Generated(3)).panels] == ["3 tokens"]


def fed(*events) -> TurnView:
    view = TurnView()
    for event in events:
        view.feed(event)
    return view


def test_stopped():
    view = TurnView(Clock())
    view.feed(ReasoningDelta("hm"))
    view.feed(Generated(2))
    view.finish(interrupted=True)
    view.feed(TextDelta("too late"))
    assert [(panel.kind, panel.state, panel.log, panel.body) for panel in view.panels] == [
        ("reasoning", "done", "2 tokens, stopped", "hm"),
        ("notice", "done", "", "Stopped."),
    ]


def test_failed_while_a_tool_ran():
    view = TurnView()
    view.feed(ToolCall("c", "read_article", {"title": "Rat"}))
    view.fail("The archive is damaged: download it again.")
    view.finish()
    assert [(panel.kind, panel.state) for panel in view.panels] == [("tool", "error"), ("error", "error")]
    assert view.panels[1].body == "The archive is damaged: download it again."


def test_hostile_text_stands_as_it_came():
    bad = "<img src=x onerror=alert(1)>`\x1b[2J"
    view = TurnView()
    view.feed(ToolCall("c", bad, {"title": bad}))
    view.feed(ToolResult("c", bad, False, None, None, 0.0))
    view.feed(TextDelta(bad))
    tool, result, answer = view.panels
    assert tool.title == f"{bad} | {bad}"
    assert json.loads(tool.body)["title"] == result.body == answer.body == bad


EVENTS = st.one_of(
    st.builds(Prefill, st.integers(0, 9999), st.integers(0, 9999)),
    st.builds(Generated, st.integers(0, 9999)),
    st.builds(ReasoningDelta, st.text()),
    st.builds(TextDelta, st.text()),
    st.builds(ToolCall, st.sampled_from("ab"), st.text(), st.dictionaries(st.text(), st.text(), max_size=2)),
    st.builds(
        ToolResult,
        st.sampled_from("abc"),
        st.text(),
        st.booleans(),
        st.none() | st.text(),
        st.none(),
        st.floats(0, 9),
    ),
    st.builds(Notice, st.text()),
    st.builds(ContextTrimmed, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9999)),
    st.just(TextWasReasoning()),
)


@given(st.lists(EVENTS, max_size=30))
def test_any_events_leave_panels_that_can_be_drawn(events):
    view = TurnView()
    for event in events:
        view.feed(event)
        keys = [panel.key for panel in view.panels]
        assert len(set(keys)) == len(keys)
        assert all(panel.kind != "status" for panel in view.panels[:-1])
        for panel in view.panels:
            assert "\n" not in panel.title
            assert panel.parent is None or keys.index(panel.parent) < keys.index(panel.key)
    view.finish()
    assert all(panel.state != "pending" and panel.kind != "status" for panel in view.panels)
    streamed = (TextDelta, ReasoningDelta)
    written = "".join(event.text for event in events if isinstance(event, streamed))
    shown = "".join(panel.body for panel in view.panels if panel.kind in ("answer", "reasoning"))
    assert "".join(shown.split()) == "".join(written.split())


def test_a_call_says_what_was_read_where_that_is_another_article():
    view = TurnView()
    for id, asked, read in (("a", "Bear", "American bison"), ("b", "Rat", "Rat"), ("c", "Xyzzy", None)):
        view.feed(ToolCall(id, "read_article", {"title": asked}))
        view.feed(ToolResult(id, "Article: …", False, read, read and "rats.zim/x", 0.1))
    assert [panel.log for panel in view.panels if panel.kind == "tool"] == ["read American bison", "", ""]
