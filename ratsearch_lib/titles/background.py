"""Building a title index without anybody waiting for it: in a process of its own.

libzim holds the interpreter's lock while it reads, so a thread would make everything else stutter.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Literal

PACKAGE_PARENT = Path(__file__).resolve().parents[2]
STOP_TIMEOUT_S = 5


class BackgroundBuild:
    """Starts to build the title index of the archive in a child process, which ends with this one.

    >>> from ratsearch_lib.sample import archive_path
    >>> build = BackgroundBuild(archive_path())
    >>> done, total = build.progress
    >>> build.wait()
    'done'
    """

    def __init__(self, archive_path: str | Path, *, path: str | Path | None = None):
        arguments = [str(Path(archive_path).resolve())]
        if path is not None:
            arguments.append(str(Path(path).resolve()))
        self.progress: tuple[int, int | None] = (0, None)
        self._error: str | None = None
        self._last_line = ""
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ratsearch_lib.titles", *arguments],
            cwd=PACKAGE_PARENT,  # where `-m` finds the package, also from a checkout
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal stops an answer, not the index
        )
        self._reader = threading.Thread(target=self._read, name="title index", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout:
            try:
                report = json.loads(line)
                if "error" in report:
                    self._error = str(report["error"])
                else:
                    self.progress = (report["done"], report["total"])
            except (ValueError, KeyError, TypeError):  # a warning or a traceback
                self._last_line = line.decode("utf-8", "replace").strip() or self._last_line
        self._process.stdout.close()
        self._process.wait()

    def poll(self) -> Literal["done", "failed"] | None:
        """None while it is being built, then "done" (open it) or "failed" (see `error`)."""
        if self._reader.is_alive():
            return None
        return "done" if self._process.returncode == 0 else "failed"

    def wait(self, timeout_s: float | None = None) -> Literal["done", "failed"] | None:
        """As `poll`, when the build has ended or the time is up."""
        self._reader.join(timeout_s)
        return self.poll()

    @property
    def error(self) -> str | None:
        """Why it failed, in a sentence; None unless it did."""
        if self.poll() != "failed":
            return None
        status = self._process.returncode
        return self._error or f"Building the title index ended with status {status}: {self._last_line or 'no message'}."

    @property
    def remaining_s(self) -> float | None:
        """Seconds to go at the rate so far; None as long as that is not known."""
        done, total = self.progress
        if not done or not total:
            return None
        return (time.monotonic() - self._started) / done * (total - done)

    def stop(self) -> None:
        """Ends the build, if it still runs. What it has written is removed by the next one."""
        self._process.stdin.close()
        self._reader.join(STOP_TIMEOUT_S)
        if self._reader.is_alive():
            self._process.kill()
            self._reader.join()

    def __enter__(self) -> BackgroundBuild:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
