"""Many files prepared at a time, by other processes; their results come in order."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from .prepare import Prepared, prepare, receive, send

PROJECT = Path(__file__).resolve().parents[2]  # where the child finds this package
MAX_WORKERS = 8
WORTH_BYTES = 8_000_000  # of what is to be read, below which they are not started
DIED = "reading it ended the process that did: it may be damaged"

Files = list[tuple[str, bytes]]
Result = tuple[list[str], list[Prepared]]


def how_many(n_bytes: int) -> int:
    """How many processes so much is worth; 0: none but this one."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cpus, MAX_WORKERS) if n_bytes >= WORTH_BYTES and cpus > 1 else 0


def prepared(batches: Iterator[tuple[list, Files]], chunk_size: int, n_workers: int) -> Iterator[tuple[list, Result]]:
    """Each batch, which is some notes and files, as its notes and what `prepare` says."""
    if not n_workers:
        for notes, files in batches:
            yield notes, prepare(files, chunk_size)
        return
    pool = _Pool(n_workers)
    pending: deque[tuple[list, Future[Result]]] = deque()
    try:
        for notes, files in batches:
            pending.append((notes, pool.submit(files, chunk_size)))
            if len(pending) > n_workers + 1:
                notes, result = pending.popleft()
                yield notes, result.result()
        while pending:
            notes, result = pending.popleft()
            yield notes, result.result()
    finally:
        pool.close()


class _Pool:
    def __init__(self, n_workers: int):
        self._threads = ThreadPoolExecutor(n_workers)
        self._idle: SimpleQueue[_Child] = SimpleQueue()
        self._children = [_Child() for _ in range(n_workers)]
        for child in self._children:
            self._idle.put(child)

    def submit(self, files: Files, chunk_size: int) -> Future[Result]:
        return self._threads.submit(self._prepare, files, chunk_size)

    def _prepare(self, files: Files, chunk_size: int) -> Result:
        child = self._idle.get()
        try:
            return child.ask(files, chunk_size)
        except (EOFError, OSError):
            return self._one_by_one(child, files, chunk_size)
        finally:
            self._idle.put(child)

    @staticmethod
    def _one_by_one(child: _Child, files: Files, chunk_size: int) -> Result:
        """A file among these ends processes: only that one is given up."""
        safe: Files = []
        died = set()
        for number, file in enumerate(files):
            try:
                child.ask([file], chunk_size)
                safe.append(file)
            except (EOFError, OSError):
                died.add(number)
        terms, done = child.ask(safe, chunk_size)
        rest = iter(done)
        return terms, [(DIED, "", "", []) if number in died else next(rest) for number in range(len(files))]

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for child in self._children:
            child.end()
        self._threads.shutdown()


class _Child:
    def __init__(self):
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def ask(self, files: Files, chunk_size: int) -> Result:
        """EOFError or OSError if the process ends before it has answered; the next question starts another."""
        if self._ended:
            raise EOFError
        process = self._process or self._start()
        try:
            send(process.stdin, (files, chunk_size))
            return receive(process.stdout)
        except (EOFError, OSError):
            self._kill()
            raise

    def _start(self) -> subprocess.Popen[bytes]:
        flags = subprocess.CREATE_NO_WINDOW if sys.platform == "win32" else 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ratsearch_lib.documents.prepare"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=PROJECT,
            creationflags=flags,
        )
        return self._process

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            process.stdout.close()
            try:
                process.stdin.close()
            except OSError:  # what was still to be written
                return

    def end(self) -> None:
        self._ended = True
        process = self._process
        if process is not None:
            process.kill()
            process.wait()
