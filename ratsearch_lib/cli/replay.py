"""`ratsearch replay`: a transcript's runs, shown as they happened."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..agent import events
from ..agent.transcript import Line, read_lines
from ..errors import TranscriptError
from ..evidence import SentenceEvidence
from ..view import LOGO
from .layout import DIM_ITALIC
from .screen import Screen
from .terminal import RULE, USER_BANNER, TurnPrinter

MAX_WAIT_S = 1.0  # where no speed was asked for: nobody wants to watch a prompt being read again
KINDS = {kind.__name__: kind for kind in events.Event.__args__}


def replay(file: Path, out: Screen, *, speed: float | None) -> int:
    """Show a transcript with the chat's own printer. Exit status 0.

    `speed` 2 is twice as fast as it happened, 0 at once; None: as it happened, but no wait longer than a second, and
    at once where `out` is no terminal. Runs that happened at once are shown one after the other.
    """
    pace = _pace(speed, out)
    runs: dict[int, list[Line]] = {}
    try:
        for line in read_lines(file):
            if line["type"] == "start":
                _header(line, out)
            elif "run" in line:
                runs.setdefault(line["run"], []).append(line)
        for lines in runs.values():
            _show(lines, out, pace)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TranscriptError(f"The transcript {file} is damaged: record it again. ({error!r})") from error
    return 0


def _pace(speed: float | None, out: Screen) -> Callable[[float], None]:
    """Waits as long as the next line is to be waited for, given the seconds that it took."""
    if speed == 0 or (speed is None and not out.is_terminal):
        return lambda seconds: None
    never = threading.Event()
    if speed is None:
        return lambda seconds: never.wait(min(seconds, MAX_WAIT_S)) and None
    return lambda seconds: never.wait(seconds / speed) and None


def _header(line: Line, out: Screen) -> None:
    archive = ", ".join(each["name"] for each in line.get("archives", [])) or "no archive"
    model = f"{line.get('model')} at {line.get('server')}"
    for text in (f"ratsearch {LOGO}", archive, f"{model} (recorded {line.get('time')})", RULE):
        out.line(text)


def _show(lines: list[Line], out: Screen, pace: Callable[[float], None]) -> None:
    printer, ended, at = None, "It ends here: whoever recorded it was stopped.", lines[0]["at"]
    try:
        for line in lines:
            pace(max(0.0, line["at"] - at))
            at = line["at"]
            match line["type"]:
                case "run":
                    out.line(USER_BANNER)
                    out.line(line["question"])
                    printer = TurnPrinter(out)
                case "event" if printer:
                    printer.feed(event := read_event(line))
                    ended = "" if isinstance(event, events.RunFinished) else ended
                case "failed":
                    ended = line["message"]
                case "stopped":
                    ended = "stopped"
    finally:
        if printer:
            printer.finish()
    out.line(f"[{ended}]\n" if ended else "", DIM_ITALIC)


def read_event(line: Line) -> events.Event:
    """The event that an "event" line tells. A RunFinished has no `messages` here: they are numbers in the file."""
    kind = KINDS[line["event"]]
    values: dict[str, Any] = {each.name: line[each.name] for each in fields(kind)}
    if kind is events.RunFinished:
        values.update(messages=[], usage=events.Usage(**line["usage"]))
    elif kind is events.Evidence:
        values["sentences"] = tuple(
            SentenceEvidence(**{**each, "missing": tuple(each["missing"])}) for each in line["sentences"]
        )
    return kind(**values)
