"""Progress bars on standard error, for what takes long: fetching weights, indexing titles."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, "int | None"], None]


@contextmanager
def progress_bar(title: str, report: Callable[[str], None], *, unit: str = "") -> Iterator[Progress]:
    """A callback `progress(done, total)` that says `title`, and the size, through `report` when it is first called,
    then draws a bar where standard error is a terminal. Never called, it leaves no trace.

    `unit` is "bytes", or the plural of what is counted.
    """
    bar = task = None

    def progress(done: int, total: int | None) -> None:
        nonlocal bar, task
        if task is None:
            report(f"{title}{_size(total, unit)} …")
            bar = _start_bar(unit)
            task = bar.add_task("", total=total)
        bar.update(task, completed=done, total=total)

    try:
        yield progress
    finally:
        if bar is not None:
            bar.stop()


def _size(total: int | None, unit: str) -> str:
    if not total or not unit:
        return ""
    return f" ({total / 1e6:,.0f} MB)" if unit == "bytes" else f" ({total:,} {unit})"


def _start_bar(unit: str):
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class Rate(progress.ProgressColumn):
        def render(self, task: progress.Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "")

    if unit == "bytes":
        columns = (progress.DownloadColumn(), progress.TransferSpeedColumn())
    else:
        columns = (progress.MofNCompleteColumn(), Rate())
    bar = progress.Progress(
        progress.BarColumn(),
        *columns,
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    bar.start()
    return bar
