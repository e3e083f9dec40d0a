"""Events → panels: the one reducer that the Gradio page, notebooks and the terminal share.

A turn is an ordered list of panels, updated in place as events arrive; a front end draws the list and never
looks at events. Text of models and archives stands in the panels as it came: escaping is the drawer's job.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .agent.events import (
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
from .evidence import SentenceEvidence
from .words import STOP_REASONS, call_title, evidence_words, number, prefill_words, result_title, trimmed_words

LOGO = "<-3,,~~"
FRAME_S = 0.2
RAT = ("  <8=~~", " <8=~~ ", "<8=~~  ", "~~=8>  ", " ~~=8> ", "  ~~=8>")


@dataclass(frozen=True, slots=True)
class InLine:
    """An event of the page's own: so many questions are answered before this one."""

    ahead: int


@dataclass(slots=True)
class Panel:
    """One thing to draw. `TurnView` changes it until its state is no longer "pending".

    kind        "status"     the rat, and what is being waited for; always last, gone when there is more to see
                "reasoning"  body: the model's reasoning, plain text
                "tool"       title: ``NAME | ARGUMENT``; body: the arguments as JSON
                "result"     title: what was read; body: the tool's whole result, plain text; parent: its tool's key
                "answer"     body: Markdown (also the words beside a tool call)
                "notice"     body: a remark of the program, plain text
                "error"      body: why the run failed, plain text
    key         unique in the turn, and stable
    state       "pending", "done" or "error"
    log         a few words about the panel: "57 tokens", "31,204 characters", "stopped"; of a tool's, what was read
                instead of what was asked for
    duration_s  seconds, once they are known
    parent      key of the panel that this one belongs under
    source      of a result: what was read, as ``FILE.zim/PATH``
    name        of a result: the title of what was read
    passages    of a result: what of it answers the question best, best first
    evidence    of an answer: which of its sentences what was read bears out; ``body[start:end]`` is the sentence
    """

    kind: Literal["status", "reasoning", "tool", "result", "answer", "notice", "error"]
    key: str
    title: str = ""
    body: str = ""
    state: Literal["pending", "done", "error"] = "pending"
    log: str = ""
    duration_s: float | None = None
    parent: str | None = None
    source: str | None = None
    name: str = ""
    passages: tuple[str, ...] = ()
    evidence: tuple[SentenceEvidence, ...] = ()


class TurnView:
    """The panels of one turn, from its events.

    >>> view = TurnView()
    >>> view.feed(TextDelta("The American "))
    >>> view.feed(TextDelta("bison."))
    >>> view.finish()
    >>> [(panel.kind, panel.body, panel.state) for panel in view.panels]
    [('answer', 'The American bison.', 'done')]
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.panels: list[Panel] = []
        self._clock = clock
        self._started: dict[str, float] = {}  # by key
        self._calls: list[tuple[str, Panel]] = []  # servers may give several calls the same id
        self._texts: list[Panel] = []  # of this step
        self._count = 0
        self._tokens = 0  # written in this step
        self._tokens_before = 0  # of these, before the current panel
        self._waiting = "Processing…"
        self._over = False
        self._show_status("Processing…")

    def feed(self, event: Event | InLine) -> None:
        """Take the turn's next event. Once the turn is over, events are ignored."""
        if self._over:
            return
        match event:
            case InLine(ahead):
                self._show_status(f"Waiting: {number(ahead, 'question')} before this one")
            case Prefill(processed, total):
                self._start_step()
                self._show_status(prefill_words(processed, total))
            case Generated(tokens):
                self._count_tokens(tokens)
            case ReasoningDelta(text):
                self._stream("reasoning", text)
            case TextDelta(text):
                self._stream("answer", text)
            case TextWasReasoning():
                self._take_for_reasoning()
            case ToolCall(id, name, arguments):
                self._close_stream()
                body = json.dumps(arguments, indent=2, ensure_ascii=False, default=str)
                self._calls.append((id, self._open("tool", title=call_title(name, arguments), body=body)))
            case ToolResult():
                self._add_result(event)
                self._start_step()
                if not any(panel.state == "pending" for panel in self.panels):
                    self._show_status("Processing…")
            case Notice(text):
                self._add_notice(text)
            case ContextTrimmed():
                self._add_notice(trimmed_words(event))
            case Evidence(answer, sentences):
                self._add_evidence(answer, sentences)
            case RunFinished(answer, stop_reason=stop_reason):
                if answer and not any(panel.kind == "answer" for panel in self.panels):
                    self._stream("answer", answer)
                self.finish()
                if stop_reason in STOP_REASONS:
                    self._add_notice(STOP_REASONS[stop_reason])
        self.tick()

    def tick(self) -> None:
        """Let the rat run on. `feed` does it too; call this between events that are far apart."""
        last = self.panels[-1] if self.panels else None
        if last and last.state == "pending" and last.kind in ("status", "reasoning"):
            rat = RAT[int(self._clock() / FRAME_S) % len(RAT)]
            last.title = f"{rat} {self._waiting if last.kind == 'status' else 'Thinking…'}"

    def finish(self, interrupted: bool = False) -> None:
        """End the turn; `interrupted` when the person stopped it."""
        if self._over:
            return
        self._over = True
        self._drop_status()
        for panel in self.panels:
            if panel.state == "pending":
                self._close(panel)
                if interrupted:
                    panel.log = ", ".join(filter(None, (panel.log, "stopped")))
        if interrupted:
            self._add_notice("Stopped.")

    def fail(self, message: str) -> None:
        """End the turn with an error: what happened and what to do about it."""
        if self._over:
            return
        self._over = True
        self._drop_status()
        for panel in self.panels:
            if panel.state == "pending":
                self._close(panel, "error" if panel.kind == "tool" else "done")
        self._open("error", title="Error", body=message, state="error")

    def _open(self, kind, **fields) -> Panel:
        self._drop_status()
        self._count += 1
        panel = Panel(kind, f"{kind}-{self._count}", **fields)
        self._started[panel.key] = self._clock()
        self._tokens_before = self._tokens
        self.panels.append(panel)
        return panel

    def _close(self, panel: Panel, state: Literal["done", "error"] = "done") -> None:
        panel.state = state
        panel.duration_s = round(self._clock() - self._started[panel.key], 2)
        if panel.kind == "reasoning":
            panel.title = "Thought"

    def _current(self) -> Panel | None:
        """The panel that text is streaming into."""
        last = self.panels[-1] if self.panels else None
        return last if last and last.kind in ("reasoning", "answer") and last.state == "pending" else None

    def _close_stream(self) -> None:
        if panel := self._current():
            self._close(panel)

    def _stream(self, kind, text: str) -> None:
        panel = self._current()
        if panel is None or panel.kind != kind:
            if not text.strip():
                return  # the blank lines that models write around reasoning and calls
            self._close_stream()
            panel = self._open(kind)
            text = text.lstrip("\r\n")
            if kind == "answer":
                self._texts.append(panel)
        panel.body += text

    def _start_step(self) -> None:
        self._tokens = self._tokens_before = 0
        self._texts.clear()

    def _take_for_reasoning(self) -> None:
        """This step's text was none: its panels show reasoning."""
        self._close_stream()
        for panel in self._texts:
            panel.kind, panel.title = "reasoning", "Thought"
        self._texts.clear()

    def _count_tokens(self, tokens: int) -> None:
        if tokens < self._tokens:  # a new step
            self._tokens_before = 0
        self._tokens = tokens
        if panel := self._current():
            panel.log = number(tokens - self._tokens_before, "token")
        elif self.panels and self.panels[-1].kind == "status":
            self._waiting = f"{number(tokens, 'token')} Thinking…"

    def _add_result(self, event: ToolResult) -> None:
        state = "error" if event.is_error else "done"
        tool = next((panel for id, panel in self._calls if id == event.id and panel.state == "pending"), None)
        if tool:
            tool.state, tool.duration_s = state, event.duration_s
            if event.title and not tool.title.endswith(f"| {event.title}"):
                tool.log = f"read {event.title}"
        self._count += 1
        result = Panel(
            "result",
            f"result-{self._count}",
            title=result_title(event),
            body=event.text,
            state=state,
            log=number(len(event.text), "character"),
            duration_s=event.duration_s,
            parent=tool and tool.key,
            source=event.source,
            name=event.title or "",
            passages=event.passages,
        )
        if tool:
            self.panels.insert(self.panels.index(tool) + 1, result)
        else:
            self._add_before_pending(result)

    def _add_evidence(self, answer: str, sentences: Sequence[SentenceEvidence]) -> None:
        """Give each answer panel its sentences, by where they stand in it, and say how many were found."""
        self._close_stream()
        at = 0
        for panel in self.panels:
            said = panel.body.strip()
            if panel.kind != "answer" or (start := answer.find(said, at)) < 0:
                continue
            at = start + len(said)
            moved = len(panel.body) - len(panel.body.lstrip()) - start
            panel.evidence = tuple(
                replace(each, start=each.start + moved, end=each.end + moved)
                for each in sentences
                if start <= each.start and each.end <= at
            )
        if words := evidence_words(sentences):
            self._add_notice(words)

    def _add_notice(self, text: str) -> None:
        self._count += 1
        self._add_before_pending(Panel("notice", f"notice-{self._count}", body=text, state="done"))

    def _add_before_pending(self, panel: Panel) -> None:
        """Put a panel before what is still being written, so that it does not cut that in two."""
        pending = self.panels and self.panels[-1].state == "pending"
        self.panels.insert(len(self.panels) - 1 if pending else len(self.panels), panel)

    def _show_status(self, waiting: str) -> None:
        self._close_stream()
        self._waiting = waiting
        if not (self.panels and self.panels[-1].kind == "status"):
            self.panels.append(Panel("status", "status"))
        self.tick()

    def _drop_status(self) -> None:
        if self.panels and self.panels[-1].kind == "status":
            self.panels.pop()
