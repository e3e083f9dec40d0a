"""The screen: one stream that text is laid out on, and the rat that runs while there is nothing to read."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from typing import TextIO

from ..view import FRAME_S, RAT
from .layout import DIM_ITALIC, Layout, clean

PIPE_WIDTH = 80  # for what is shortened to a number of lines


class Screen:
    """Writes to `stream`; styles, wrapping and the rat are for terminals only.

    `NO_COLOR` (https://no-color.org) and ``TERM=dumb`` in `environ` turn styles off, the latter the rat too.
    """

    def __init__(self, stream: TextIO, environ: Mapping[str, str]):
        self._stream = stream
        self.is_terminal = stream.isatty()
        can_redraw = self.is_terminal and environ.get("TERM") != "dumb"
        self._styled = can_redraw and not environ.get("NO_COLOR") and (os.name != "nt" or "WT_SESSION" in environ)
        self._layout = Layout(self._width, self._styled)
        self._rat = _Rat(self) if can_redraw else None
        self._lock = threading.RLock()
        self._drawn = 0  # columns of the status line on screen

    def _width(self) -> int | None:
        if not self.is_terminal:
            return None
        try:
            return max(20, os.get_terminal_size(self._stream.fileno()).columns)
        except OSError:
            return PIPE_WIDTH

    def write(self, text: str, style: str = "", *, markup: bool = False) -> None:
        """The next piece of streaming text; `markup` shows `**bold**` bold."""
        self.hide_status()
        with self._lock:
            self._send(self._layout.feed(text, style, markup=markup))

    def line(self, text: str = "", style: str = "") -> None:
        """A line, or several, on lines of their own."""
        self.hide_status()
        with self._lock:
            self._send(self._layout.end_line() + self._layout.feed(text + "\n", style))

    def end_line(self) -> None:
        """Start a new line, if the last one is not at its end."""
        with self._lock:
            self._send(self._layout.end_line())

    def preview(self, text: str, lines: int) -> None:
        """The first `lines` lines of `text` as they stand on the screen, dim and italic."""
        layout = Layout(lambda: self._width() or PIPE_WIDTH)
        wrapped = (layout.feed(text.strip()) + layout.end_line()).splitlines()
        shown = wrapped[:lines]
        if len(wrapped) > lines:
            shown[-1] = f"{shown[-1]} …".strip()
        self.line("\n".join(shown), DIM_ITALIC)

    def status(self, text: str) -> None:
        """Let the rat run beside `text`, until the next write."""
        if self._rat:
            self.end_line()
            self._rat.run(text)

    def hide_status(self) -> None:
        if self._rat:
            self._rat.stop()

    def draw_status(self, text: str) -> None:
        """Redraw the status line in place; "" clears it."""
        with self._lock:
            text = clean(text)[: (self._width() or PIPE_WIDTH) - 1]
            self._send("\r" + text.ljust(self._drawn) + ("\r" if not text else ""))
            self._drawn = len(text)

    def _send(self, text: str) -> None:
        if text:
            self._stream.write(text)
            self._stream.flush()


class _Rat:
    """Runs left and back on the status line, in a thread of its own while it is seen."""

    def __init__(self, screen: Screen):
        self._screen = screen
        self._text = ""
        self._thread: threading.Thread | None = None
        self._leave = threading.Event()

    def run(self, text: str) -> None:
        self._text = text
        if self._thread is None:
            self._leave.clear()
            self._thread = threading.Thread(target=self._loop, daemon=True, name="ratsearch-rat")
            self._thread.start()

    def stop(self) -> None:
        if self._thread:
            self._leave.set()
            self._thread.join()
            self._thread = None
            self._screen.draw_status("")

    def _loop(self) -> None:
        while True:
            self._screen.draw_status(f"{RAT[int(time.monotonic() / FRAME_S) % len(RAT)]}  {self._text}")
            if self._leave.wait(FRAME_S / 2):
                return
