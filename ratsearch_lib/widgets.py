"""For notebooks: a chat with the same panels as the page, and a progress bar.

A drawing is HTML that is made here, with all text of models, archives and people escaped; whoever reads the notebook
on GitHub, where no widgets run, sees the same as plain text.
"""

from __future__ import annotations

import html
import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from .agent.events import RunFinished
from .errors import ChatError, RatsearchError
from .view import Panel, TurnView

if TYPE_CHECKING:
    from .agent.loop import Agent, Message

DRAW_EVERY_S = 0.1
SHOW_AFTER_S = 0.5  # what is done sooner needs no progress bar
MAX_RESULT_CHARS = 8_000  # of a tool's result in the notebook; the model saw all of it
TEXT_RESULT_LINES = 4  # of it in the plain text


class ChatWidget(widgets.VBox):
    """A chat with `agent` inside a notebook. The kernel stays free: the answer comes in while other cells run.

    messages  the conversation so far, as `RunFinished` has it
    turns     the turns so far: (question, TurnView)

    >>> chat = ChatWidget(agent)                                                            # doctest: +SKIP
    >>> chat                                                                                # doctest: +SKIP
    >>> chat.ask("How tall is Denali?", wait=True)                                          # doctest: +SKIP
    >>> print(chat.text())                                                                  # doctest: +SKIP
    """

    def __init__(self, agent: Agent, messages: Sequence[Message] = ()):
        self.agent = agent
        self.messages = list(messages)
        self.turns: list[tuple[str, TurnView]] = []
        self._stream = None
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._question = widgets.Text(placeholder="Ask the encyclopedia", layout={"flex": "1"})
        self._send = widgets.Button(description="Send", button_style="primary")
        self._stop = widgets.Button(description="Stop", disabled=True)
        self._new = widgets.Button(description="New", tooltip="Forget the conversation")
        self._drawn = widgets.VBox()
        self._question.on_msg(self._entered)
        self._send.on_click(lambda _: self._take())
        self._stop.on_click(lambda _: self.stop())
        self._new.on_click(lambda _: self.clear())
        super().__init__([self._drawn, widgets.HBox([self._question, self._send, self._stop, self._new])])

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def ask(self, question: str, wait: bool = False) -> None:
        """Ask, as if it was typed and sent; returns at once, or with `wait` when the answer is there."""
        if self.is_running or not question.strip():
            return
        self._stopped = False
        self._busy(True)
        self._thread = threading.Thread(target=self._run, args=(question.strip(),), daemon=True)
        self._thread.start()
        if wait:
            self._thread.join()

    def stop(self) -> None:
        """Stop the answer that is being written, and the server's work on it."""
        self._stopped = True
        if self._stream is not None:
            self._stream.close()

    def clear(self) -> None:
        """Forget the conversation."""
        self.stop()
        if self._thread is not None:
            self._thread.join()
        self.messages, self.turns, self._drawn.children = [], [], ()

    def text(self) -> str:
        """The conversation as plain text."""
        return "\n\n".join(turn_text(question, view.panels) for question, view in self.turns)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data:
            data["text/plain"] = self.text() or "A chat: run this notebook to use it."
        return bundle

    def _entered(self, _: object, content: dict, __: object) -> None:
        if content.get("event") == "submit":
            self._take()

    def _take(self) -> None:
        question = self._question.value
        if question.strip() and not self.is_running:
            self._question.value = ""
            self.ask(question)

    def _run(self, question: str) -> None:
        view, drawing = TurnView(), TurnDrawing()
        self.turns.append((question, view))
        self._drawn.children += (widgets.HTML(f"<b>{html.escape(question)}</b>"), drawing)
        drawn_at = 0.0
        try:
            self._stream = self.agent.run(question, self.messages)
            if self._stopped:  # before there was anything to stop
                self._stream.close()
            for event in self._stream:
                view.feed(event)
                if isinstance(event, RunFinished):
                    self.messages = event.messages
                if time.monotonic() - drawn_at > DRAW_EVERY_S:
                    drawing.draw(view.panels)
                    drawn_at = time.monotonic()
            view.finish(interrupted=self._stopped)
        except RatsearchError as error:
            if isinstance(error, ChatError) and error.messages:
                self.messages = error.messages
            view.fail(str(error))
        finally:
            drawing.draw(view.panels)
            self._busy(False)

    def _busy(self, busy: bool) -> None:
        self._send.disabled = self._new.disabled = busy
        self._stop.disabled = not busy


class TurnDrawing(widgets.VBox):
    """The panels of one turn, each drawn once and then only when it has changed."""

    def __init__(self) -> None:
        super().__init__()
        self._widgets: dict[str, widgets.HTML] = {}

    def draw(self, panels: Sequence[Panel]) -> None:
        """Show these panels."""
        shown = []
        for panel in list(panels):
            if panel.kind == "result" and panel.parent:  # inside its call
                continue
            results = [each for each in panels if each.parent == panel.key]
            drawn = self._widgets.setdefault(panel.key, widgets.HTML())
            value = panel_html(panel, results)
            if drawn.value != value:
                drawn.value = value
            shown.append(drawn)
        if tuple(shown) != self.children:
            self.children = shown


class ProgressWidget:
    """A progress bar that is a callback `progress(done, total)`; it shows itself if the work takes a while.

    >>> with ProgressWidget("Indexing") as progress:                                        # doctest: +SKIP
    ...     store.index("folder", progress=progress)
    """

    def __init__(self, title: str):
        self.title = title
        self._bar: widgets.IntProgress | None = None
        self._started = time.monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        if self._bar is None:
            if time.monotonic() - self._started < SHOW_AFTER_S:
                return
            from IPython.display import display

            self._bar = widgets.IntProgress(description=self.title, style={"description_width": "initial"})
            display(self._bar)
        self._bar.max = max(1, total or done)
        self._bar.value = done

    def __enter__(self) -> ProgressWidget:
        self._started = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def panel_html(panel: Panel, results: Sequence[Panel] = ()) -> str:
    """A panel as HTML in which nothing of its text can be markup, but for the Markdown of answers.

    >>> panel_html(Panel("notice", "notice-1", body="a < b"))
    '<div style="opacity:.7">a &lt; b</div>'
    """
    match panel.kind:
        case "status":
            return f'<code style="white-space:pre">{html.escape(panel.title)}</code>'
        case "answer":
            return _markdown().render(panel.body)
        case "notice":
            return f'<div style="opacity:.7">{html.escape(panel.body)}</div>'
        case "error":
            return f'<div style="color:#b00020"><b>Error.</b> {html.escape(panel.body)}</div>'
    title = _title(panel)
    body = _pre(panel.body) + "".join(f"<div>{html.escape(_title(each))}</div>{_pre(each.body)}" for each in results)
    is_open = " open" if panel.kind == "reasoning" and panel.state == "pending" else ""
    return f"<details{is_open}><summary><code>{html.escape(title)}</code></summary>{body}</details>"


def turn_text(question: str, panels: Sequence[Panel]) -> str:
    """A question and its turn as plain text.

    >>> print(turn_text("How tall is Denali?", [Panel("answer", "answer-1", body="6,190 m.")]))
    > How tall is Denali?
    <BLANKLINE>
    6,190 m.
    """
    parts = [f"> {question}"]
    for panel in panels:
        match panel.kind:
            case "status":
                continue
            case "answer" | "notice":
                parts.append(panel.body.strip())
            case "error":
                parts.append(f"Error. {panel.body}")
            case "tool":
                parts.append(f"[{panel.title}]" + (f" {panel.log}" if panel.log else ""))
            case _:
                lines = panel.body.strip().splitlines()
                more = ["  …"] if len(lines) > TEXT_RESULT_LINES else []
                parts.append("\n".join([*(f"  {line}" for line in lines[:TEXT_RESULT_LINES]), *more]))
    return "\n\n".join(parts)


def _title(panel: Panel) -> str:
    seconds = f"{panel.duration_s:.1f} s" if panel.duration_s is not None else ""
    failed = "failed" if panel.state == "error" else ""
    return " · ".join(filter(None, (panel.title, panel.log, seconds, failed)))


def _pre(text: str) -> str:
    left_out = len(text) - MAX_RESULT_CHARS
    if left_out > 0:
        text = f"{text[:MAX_RESULT_CHARS]}\n… {left_out:,} more characters, which the model read"
    return f'<pre style="white-space:pre-wrap;max-height:20em;overflow:auto;opacity:.75">{html.escape(text)}</pre>'


@lru_cache(maxsize=1)
def _markdown() -> Any:
    """Markdown without HTML, and without images, which would be fetched."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
