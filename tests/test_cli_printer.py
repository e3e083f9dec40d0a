"""How a run's events are printed."""

from io import StringIO

from ratsearch_lib.agent.events import (
    Generated,
    Notice,
    Prefill,
    ReasoningDelta,
    RunFinished,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
)
from ratsearch_lib.cli.screen import Screen
from ratsearch_lib.cli.terminal import AGENT_BANNER as AGENT
from ratsearch_lib.cli.terminal import TurnPrinter


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
