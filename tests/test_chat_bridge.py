"""The bridge between async generators and callers that are not async."""

import asyncio
import gc
import os
import signal
import threading

import pytest

from ratsearch_lib.chat.bridge import iterate, run

LONG_S = 30  # how long a test waits for what happens at once


class Source:
    """An async generator that yields "first", then waits for ever, and notes its cleanup."""

    def __init__(self):
        self.waiting = threading.Event()
        self.cleaned = threading.Event()

    async def __call__(self):
        try:
            yield "first"
            self.waiting.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # cleanup that needs the loop, as closing a connection does
            self.cleaned.set()


async def three():
    for number in (1, 2, 3):
        yield number


async def failing():
    yield 1
    raise KeyError("title")


def test_run_returns_and_raises():
    async def add():
        return 1 + 1

    async def fail():
        raise LookupError("no")

    assert run(add()) == 2
    with pytest.raises(LookupError, match="no"):
        run(fail())


def test_run_passes_on_a_timeout_of_the_coroutine():
    with pytest.raises(asyncio.TimeoutError):
        run(asyncio.wait_for(asyncio.Event().wait(), 0.01))


def test_items_come_in_order_then_it_stays_ended():
    numbers = iterate(three)
    assert list(numbers) == [1, 2, 3]
    assert list(numbers) == []


def test_an_exception_is_raised_where_it_belongs_and_once():
    items = iterate(failing)
    assert next(items) == 1
    with pytest.raises(KeyError, match="title"):
        next(items)
    assert list(items) == []


async def test_works_inside_a_running_loop():
    assert list(iterate(three)) == [1, 2, 3]
    assert run(asyncio.sleep(0, "done")) == "done"


def test_waiting_inside_the_background_loop_is_refused_instead_of_blocking_for_ever():
    async def nested_run():
        run(asyncio.sleep(0))

    async def nested_iterate():
        list(iterate(three))

    for nested in (nested_run, nested_iterate):
        with pytest.raises(RuntimeError, match="async method"):
            run(nested())


def test_close_waits_for_the_cleanup():
    source = Source()
    items = iterate(source)
    assert next(items) == "first"
    items.close()
    assert source.cleaned.is_set()
    items.close()
    assert list(items) == []


def test_close_before_the_first_item_and_after_the_last():
    iterate(Source()).close()
    items = iterate(three)
    assert list(items) == [1, 2, 3]
    items.close()


def test_close_from_another_thread_releases_the_one_that_waits():
    source = Source()
    items = iterate(source)
    got = []
    reader = threading.Thread(target=lambda: got.extend(items))
    reader.start()
    assert source.waiting.wait(LONG_S)
    closers = [threading.Thread(target=items.close) for _ in range(3)]
    for thread in closers:
        thread.start()
    for thread in [reader, *closers]:
        thread.join(LONG_S)
        assert not thread.is_alive()
    assert got == ["first"]
    assert source.cleaned.is_set()


def test_dropping_the_iterator_stops_the_generator():
    source = Source()
    items = iterate(source)
    assert next(items) == "first"
    del items
    gc.collect()
    assert source.cleaned.wait(LONG_S)


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_ctrl_c_while_waiting_leaves_it_closable():
    may_interrupt = threading.Event()

    async def interrupting():
        yield "first"
        await asyncio.to_thread(may_interrupt.wait)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()

    def wait_for_the_second():
        assert next(items) == "first"
        may_interrupt.set()
        next(items)

    items = iterate(interrupting)
    with pytest.raises(KeyboardInterrupt):
        wait_for_the_second()
    items.close()
    assert list(items) == []
