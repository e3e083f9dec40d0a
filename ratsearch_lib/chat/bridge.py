"""Async code for callers that are not: one background thread with an event loop, shared by all.

A thread of its own, because the caller may already be inside a running loop (a notebook), and because
whoever wants to stop a request is never the thread that waits for it.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_thread: threading.Thread | None = None
_loop: asyncio.AbstractEventLoop | None = None

# A wait without a time limit misses the Ctrl-C that comes just before it begins, and on Windows every one.
_WAIT_S = 0.2
_FINISH_S = 2.0
_END = object()
_OWN_THREAD = "this is the background loop's own thread, which cannot wait for itself: use the async method instead"


def background_loop() -> asyncio.AbstractEventLoop:
    """The loop that runs in the background, started if need be (again after a fork)."""
    global _loop, _thread
    with _lock:
        if _loop is None or _thread is None or not _thread.is_alive():
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_loop.run_forever, name="ratsearch-loop", daemon=True)
            _thread.start()
            atexit.register(_finish, _loop, _thread)
        return _loop


def _finish(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Before the interpreter ends: what still runs is cancelled, and may clean up."""
    if thread.is_alive():
        with contextlib.suppress(concurrent.futures.TimeoutError):
            asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result(_FINISH_S)


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """What `coroutine` returns; whatever interrupts the caller cancels it.

    >>> run(asyncio.sleep(0, "done"))
    'done'
    """
    loop = background_loop()
    if threading.current_thread() is _thread:
        coroutine.close()
        raise RuntimeError(_OWN_THREAD)
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        while True:
            try:
                return future.result(_WAIT_S)
            except concurrent.futures.TimeoutError:
                if future.done():
                    raise
    except BaseException:
        future.cancel()
        raise


def iterate(make: Callable[[], AsyncGenerator[T, None]]) -> Stream[T]:
    """Iterate over the async generator that `make` returns, from any thread.

    >>> async def letters():
    ...     yield "a"
    ...     yield "b"
    >>> list(iterate(letters))
    ['a', 'b']
    """
    if threading.current_thread() is _thread:
        raise RuntimeError(_OWN_THREAD)
    return Stream(make)


class Stream(Generic[T], Iterator[T]):
    """An iterator over an async generator that runs in the background. Made by `iterate`.

    The generator runs ahead of its reader. What it raises, `next` raises. Dropping the iterator stops it.
    """

    def __init__(self, make: Callable[[], AsyncGenerator[T, None]]):
        self._closed = False
        self._pump = _Pump()  # which knows nothing of this object, so that dropping this is noticed
        self._loop = background_loop()
        self._loop.call_soon_threadsafe(self._pump.start, make)

    def __next__(self) -> T:
        while not self._closed:
            try:
                item, error = self._pump.items.get(timeout=_WAIT_S)
            except queue.Empty:
                continue
            if item is not _END:
                return item
            self._pump.items.put((_END, None))  # for whoever asks again
            if error is None:
                break
            raise error
        raise StopIteration

    def close(self) -> None:
        """Stop the generator and wait until it has cleaned up. From any thread, any number of times."""
        self._closed = True
        self._loop.call_soon_threadsafe(self._pump.cancel)
        if threading.current_thread() is not _thread:
            while not self._pump.done.wait(_WAIT_S):
                pass

    def __del__(self) -> None:
        # Without waiting: this may run in any thread, the loop's own among them.
        if not self._pump.done.is_set():
            self._loop.call_soon_threadsafe(self._pump.cancel)


class _Pump:
    """Moves a generator's items into a queue; lives in the loop's thread."""

    def __init__(self) -> None:
        self.items: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self.done = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False

    def start(self, make: Callable[[], AsyncGenerator[Any, None]]) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(make))
        self._task.add_done_callback(self._end)

    def cancel(self) -> None:
        if self._task is not None and not self._cancelled:  # a second time would cut its cleanup short
            self._cancelled = True
            self._task.cancel()

    async def _run(self, make: Callable[[], AsyncGenerator[Any, None]]) -> None:
        async with contextlib.aclosing(make()) as items:
            async for item in items:
                self.items.put((item, None))

    def _end(self, task: asyncio.Task[None]) -> None:
        self.items.put((_END, None if task.cancelled() else task.exception()))
        self.done.set()
