"""The plain chat in a terminal, and how a run's events are printed.

ratsearch <-3,,~~
wikipedia.zim (the only archive in this folder)
LFM2-2.6B at http://localhost:8080/v1
----------------------
  <><><> USER <><><>
What's the largest mammal in North America?
  ===== AGENT =====
[tool call]: read_article | Largest mammal
...
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from ..agent.events import (
    ContextTrimmed,
    Event,
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
)
from ..errors import ChatError, RatsearchError
from ..evidence import SentenceEvidence, is_found, summary, verdict_words
from ..view import LOGO
from ..words import STOP_REASONS, trimmed_words
from .layout import DIM_ITALIC
from .opening import Session
from .screen import Screen
from .servers import explain

RULE = "-" * 22
USER_BANNER = "  <><><> USER <><><>"
AGENT_BANNER = "  ===== AGENT ====="
REASONING_HEAD = "----- Reasoning -----"
REASONING_TAIL = "-" * len(REASONING_HEAD)
PREVIEW_LINES = 10
SAID_CHARS = 70  # of a sentence that was not found
HOW_TO_LEAVE = "Ctrl-C again, or Ctrl-D, leaves"


class TurnPrinter:
    """Prints the events of one turn as they come. `text` is what the model has said so far.

    With `answer` False the answer itself is left out; words beside a tool call are shown all the same.
    """

    def __init__(self, screen: Screen, *, answer: bool = True):
        self._screen = screen
        self._answer = answer
        self._block = ""  # what is streaming: "reasoning", "text" or nothing
        self._held = ""  # text of this step that may turn out to be the answer, when that is left out
        self._step_over = False
        self._texts: list[str] = []
        self._start_step()

    @property
    def text(self) -> str:
        return "\n\n".join(filter(None, (text.strip() for text in self._texts)))

    def feed(self, event: Event) -> None:
        if self._step_over and isinstance(event, Prefill | Generated | ReasoningDelta | TextDelta):
            self._start_step()
        match event:
            case Prefill(processed):
                if self._texts[-1]:  # asked again in the same step
                    self._texts.append("")
                self._wait(f"{processed} Reading..." if processed else "Processing...")
            case Generated(tokens):
                self._wait(f"{tokens} Thinking...")
            case ReasoningDelta(text):
                self._stream("reasoning", text)
            case TextDelta(text):
                self._stream("text", text)
            case TextWasReasoning():
                self._take_for_reasoning()
            case ToolCall(name=name, arguments=arguments):
                self._close_block()
                if self._held.strip():
                    self._screen.line(self._held.strip())
                self._held = ""
                values = " ".join(str(value) for value in arguments.values())
                self._screen.line(f"[tool call]: {name} | {' '.join(values.split())}")
                self._screen.status("Processing...")
            case ToolResult(text=text):
                self._screen.preview(text, PREVIEW_LINES)
                self._step_over = True
                self._screen.status("Processing...")
            case Notice(text):
                self._screen.line(f"[{text}]", DIM_ITALIC)
            case ContextTrimmed():
                self._screen.line(f"[{trimmed_words(event)}]", DIM_ITALIC)
            case Evidence(sentences=sentences):
                if self._answer:
                    self._close_block()
                    self._print_evidence(sentences)
            case RunFinished(answer, stop_reason=stop_reason):
                if answer.strip() and not self.text:
                    self._stream("text", answer)
                self.finish()
                if stop_reason in STOP_REASONS:
                    self._screen.line(f"[{STOP_REASONS[stop_reason]}]", DIM_ITALIC)

    def finish(self) -> None:
        """End what is streaming, also when the turn is stopped or fails."""
        self._close_block()
        self._screen.hide_status()

    def _print_evidence(self, sentences: Sequence[SentenceEvidence]) -> None:
        """How much of the answer was found, and what was not."""
        if found := summary(sentences):
            self._screen.line(f"[{found}]", DIM_ITALIC)
        for each in sentences:
            if each.verdict and not is_found(each):
                said = " ".join(each.sentence.split())
                said = said if len(said) <= SAID_CHARS else said[: SAID_CHARS - 1] + "…"
                self._screen.line(f"  {said}  ({verdict_words(each)})", DIM_ITALIC)

    def _start_step(self) -> None:
        self._step_over = False
        self._screen.line(AGENT_BANNER)
        self._screen.status("Processing...")
        self._texts.append("")

    def _wait(self, text: str) -> None:
        if not self._block:
            self._screen.status(text)

    def _stream(self, block: str, text: str) -> None:
        if self._block != block:
            if not text.strip():
                return  # the blank lines that models write around reasoning and calls
            self._close_block()
            text = text.lstrip("\r\n")
            self._block = block if block == "reasoning" or self._answer else ""
            if block == "reasoning":
                self._screen.line(REASONING_HEAD)
        if block == "reasoning":
            self._screen.write(text, DIM_ITALIC)
            return
        self._texts[-1] += text
        if self._answer:
            self._screen.write(text, markup=True)
        else:
            self._held += text

    def _take_for_reasoning(self) -> None:
        """This step's text was none: it is forgotten, and what is on the screen ends as reasoning does."""
        seen = bool(self._texts[-1].strip()) and self._answer
        held, self._held, self._texts[-1] = self._held.strip(), "", ""
        self._close_block()
        if held:
            self._screen.line(REASONING_HEAD)
            self._screen.line(held, DIM_ITALIC)
        if held or seen:
            self._screen.line(REASONING_TAIL)

    def _close_block(self) -> None:
        if self._block:
            self._screen.end_line()
        if self._block == "reasoning":
            self._screen.line(REASONING_TAIL)
        self._block = ""


def print_header(session: Session, screen: Screen) -> None:
    for line in (f"ratsearch {LOGO}", session.archive_line, session.model_line, RULE):
        screen.line(line)


def chat(session: Session, screen: Screen) -> int:
    """Talk until the person leaves: by Ctrl-D, or by Ctrl-C twice in a row. Returns the exit status."""
    _enable_line_editing()
    print_header(session, screen)
    messages: list[dict] = []
    interrupted = False
    while True:
        try:
            screen.line(USER_BANNER)
            question = _read_question(screen)
        except EOFError:
            screen.line()
            return 0
        except KeyboardInterrupt:
            screen.line()
            if interrupted:
                return 0
            interrupted = True
            screen.line(f"[{HOW_TO_LEAVE}]", DIM_ITALIC)
            continue
        with _keys_unseen():
            messages, interrupted = _turn(session, screen, question, messages)
        screen.line(f"[stopped; {HOW_TO_LEAVE}]\n" if interrupted else "", DIM_ITALIC)


def _enable_line_editing() -> None:
    """Editing and a history of this session's lines in `input`, where the platform has readline."""
    if sys.stdin.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401


@contextmanager
def _keys_unseen() -> Iterator[None]:
    """What is typed meanwhile does not show where the answer is written, but at the next prompt."""
    if not sys.stdin.isatty() or os.name == "nt":
        yield
        return
    import termios

    before = termios.tcgetattr(sys.stdin)
    unseen = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
    termios.tcsetattr(sys.stdin, termios.TCSANOW, unseen)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


def _read_question(screen: Screen) -> str:
    while True:
        line = input().encode("utf-8", "replace").decode()
        if not line.strip():
            continue
        if not sys.stdin.isatty():
            screen.line(line)  # so that a transcript has it
        return line


def _turn(session: Session, screen: Screen, question: str, messages: list[dict]) -> tuple[list[dict], bool]:
    """One question. Returns the conversation after it, and whether the person stopped the answer."""
    printer = TurnPrinter(screen)
    stopped = False
    try:
        with closing(session.agent.run(question, messages)) as run:
            for event in run:
                printer.feed(event)
                if isinstance(event, RunFinished):
                    return event.messages, False
    except RatsearchError as error:
        printer.finish()
        screen.line(explain(error, session.server))
        if isinstance(error, ChatError) and error.messages is not None:
            return error.messages, False
    except KeyboardInterrupt:
        printer.finish()
        stopped = True
    if printer.text:  # what was said stands, so that "go on" has something to go on from
        turn = {"role": "user", "content": question}, {"role": "assistant", "content": printer.text}
        messages = [*messages, *turn]
    return messages, stopped
