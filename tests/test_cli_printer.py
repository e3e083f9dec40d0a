"""How a run's events are printed."""

from io import StringIO

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
from ratsearch_lib.cli.screen import Screen
from ratsearch_lib.cli.terminal import AGENT_BANNER as AGENT
from ratsearch_lib.cli.terminal import TurnPrinter
from ratsearch_lib.evidence import SentenceEvidence

from .test_view import event_types


class TestTurnPrinter:
    def printed(self, *events, **options) -> str:
        stream = StringIO()
        printer = TurnPrinter(Screen(stream, {}), **options)
        for event in events:
            printer.feed(event)
        return stream.getvalue()

    def test_several_calls_are_one_step(self):
        calls = []
        for name in ("Rat", "Mouse"):
            calls += [
                ToolCall(f"id-{name}", "read_article", {"title": name}),
                ToolResult(f"id-{name}", f"Article: {name}", False, name, f"x.zim/{name}", 0.1),
            ]
        shown = self.printed(Prefill(5, 10), *calls, Prefill(3, 3), Generated(1), TextDelta("Both."))
        assert shown.splitlines() == [
            AGENT,
            "[tool call]: read_article | Rat",
            "Article: Rat",
            "[tool call]: read_article | Mouse",
            "Article: Mouse",
            AGENT,
            "Both.",
        ]

    def test_blank_lines_around_reasoning_are_left_out(self):
        shown = self.printed(ReasoningDelta("\n"), ReasoningDelta("Hm.\n"), TextDelta("\n\n"), TextDelta("\nYes."))
        assert shown.splitlines() == [AGENT, "----- Reasoning -----", "Hm.", "---------------------", "Yes."]

    def test_notice_does_not_run_into_the_text(self):
        shown = self.printed(TextDelta("It is"), Notice("The history was shortened."), TextDelta(" the bison."))
        assert "\n[The history was shortened.]\n" in shown

    def test_answer_left_out_but_not_the_words_beside_a_call(self):
        events = (
            TextDelta("Let me "),
            TextDelta("see."),
            ToolCall("1", "read_article", {"title": "Rat"}),
            ToolResult("1", "Article: Rat", False, "Rat", "x.zim/Rat", 0.1),
            TextDelta("A rodent."),
            RunFinished("A rodent.", [], Usage(), "answered"),
        )
        shown = self.printed(*events, answer=False)
        assert shown.splitlines() == [AGENT, "Let me see.", "[tool call]: read_article | Rat", "Article: Rat", AGENT]

    def test_arguments_stay_on_their_line(self):
        shown = self.printed(ToolCall("1", "read_article", {"title": "Rat\n[tool call]: rm | everything"}))
        assert shown.splitlines()[1:] == ["[tool call]: read_article | Rat [tool call]: rm | everything"]

    def test_cut_off_answer_is_told(self):
        shown = self.printed(TextDelta("It is"), RunFinished("It is", [], Usage(), "length"))
        assert shown.splitlines()[-1].startswith("[The reply was cut off")

    def test_text_that_was_reasoning_ends_with_the_rule_and_is_forgotten(self):
        stream = StringIO()
        printer = TurnPrinter(Screen(stream, {}))
        for event in (
            Prefill(0, 0),
            TextDelta("I should "),
            TextDelta("think."),
            TextWasReasoning(),
            TextDelta("Yes."),
        ):
            printer.feed(event)
        assert stream.getvalue().splitlines() == [AGENT, "I should think.", "---------------------", "Yes."]
        assert printer.text == "Yes."

    def test_text_that_was_reasoning_is_shown_where_the_answer_is_not(self):
        events = TextDelta("I should think."), TextWasReasoning(), TextDelta("Yes."), ToolCall("1", "f", {"x": "Rat"})
        shown = self.printed(*events, answer=False)
        assert shown.splitlines() == [
            AGENT,
            "----- Reasoning -----",
            "I should think.",
            "---------------------",
            "Yes.",
            "[tool call]: f | Rat",
        ]

    def test_what_was_said_before_stands_when_a_later_reply_was_reasoning(self):
        printer = TurnPrinter(Screen(StringIO(), {}))
        for event in (TextDelta("One."), Prefill(0, 0), TextDelta("Hm."), TextWasReasoning(), TextDelta("Two.")):
            printer.feed(event)
        assert printer.text == "One.\n\nTwo."

    def test_no_event_goes_by_unseen(self):
        printed = {
            ReasoningDelta: (ReasoningDelta("hm"), "hm"),
            TextDelta: (TextDelta("more"), "more"),
            TextWasReasoning: (TextWasReasoning(), "---------------------"),
            ToolCall: (ToolCall("a", "f", {"x": "Rat"}), "[tool call]: f | Rat"),
            ToolResult: (ToolResult("a", "Article: Rat", False, None, None, 0.0), "Article: Rat"),
            ContextTrimmed: (ContextTrimmed(1, 0, 9), "1 result was cut (about 9 tokens)."),
            Notice: (Notice("A remark."), "[A remark.]"),
            Evidence: (
                Evidence("Rats fly.", (SentenceEvidence("Rats fly.", "not found"),)),
                "[0 of 1 sentence found in what was read]",
            ),
            RunFinished: (RunFinished("Rats.", [], Usage(), "repeated"), "[The model asked for what it had read"),
        }
        rat_only = {Prefill, Generated}  # seen on a terminal alone: test_terminal.py
        assert set(printed) | rat_only == event_types()
        for event, words in printed.values():
            assert words in self.printed(TextDelta("some text "), event)
