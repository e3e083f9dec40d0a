"""Fifty runs at once, of one agent on one server: nothing crosses over, and nothing is left of the stopped ones."""

import asyncio
import threading

from ratsearch_lib import Agent, ChatClient, RunFinished, TextDelta
from ratsearch_lib.chat import bridge

from .conformance.asking import LONG_S
from .conformance.server import HOLD, ScriptedServer, call, finish, llamacpp_props, sse, text

RUNS = 50


def read_article(title: str) -> str:
    """read an article"""
    return f"Article: {title}"


def script(request):
    """Reads what the question asks for, then answers with what was read; waits in the middle of the answer."""
    messages = request.json["messages"]
    if messages[-1]["role"] == "user":
        return call("read_article", {"title": messages[-1]["content"]})
    return sse(text("It says: "), HOLD, text(messages[-1]["content"]), finish())


def question(number):
    return f"number {number} of {RUNS}"


def expected(number):
    return f"It says: Article: {question(number)}"


async def until(condition):
    """Let the loop turn until something has happened that happens soon."""
    deadline = asyncio.get_running_loop().time() + LONG_S
    while not condition():
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0)


async def test_half_of_them_cancelled():
    with ScriptedServer(script, routes={"GET /props": llamacpp_props()}) as server:
        agent = Agent(ChatClient(server.base_url), [read_article], mode="tools")
        await agent.client.amodels()
        answering = set()

        async def one(number):
            async for event in agent.arun(question(number)):
                if isinstance(event, TextDelta):
                    answering.add(number)
            assert isinstance(event, RunFinished)
            return event

        before = asyncio.all_tasks()
        tasks = [asyncio.create_task(one(number)) for number in range(RUNS)]
        await until(lambda: len(answering) == RUNS)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.wait(tasks[::2])
        await until(lambda: server.closed_early == RUNS // 2)
        server.release()
        finished = await asyncio.gather(*tasks[1::2])
        assert [each.answer for each in finished] == [expected(number) for number in range(1, RUNS, 2)]
        for number, each in zip(range(1, RUNS, 2), finished, strict=True):
            assert [m["content"] for m in each.messages if m["role"] in ("user", "tool")] == [
                question(number),
                f"Article: {question(number)}",
            ]
        assert all(task.cancelled() for task in tasks[::2])
        await until(lambda: asyncio.all_tasks() == before and server.open_connections == 0)


def test_half_of_them_closed_from_other_threads():
    with ScriptedServer(script, routes={"GET /props": llamacpp_props()}) as server:
        agent = Agent(ChatClient(server.base_url), [read_article], mode="tools")
        streams = [agent.run(question(number)) for number in range(RUNS)]
        for stream in streams:
            next(event for event in stream if isinstance(event, TextDelta))
        closers = [threading.Thread(target=stream.close) for stream in streams[::2]]
        for thread in closers:
            thread.start()
        for thread in closers:
            thread.join(LONG_S)
            assert not thread.is_alive()
        server.release()
        answers = [list(stream)[-1].answer for stream in streams[1::2]]
        assert answers == [expected(number) for number in range(1, RUNS, 2)]
        assert [list(stream) for stream in streams[::2]] == [[]] * (RUNS // 2)

        async def all_gone():
            await until(lambda: len(asyncio.all_tasks()) == 1 and server.open_connections == 0)

        bridge.run(all_gone())
        assert server.closed_early == RUNS // 2
