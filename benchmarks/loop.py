"""What the agent's loop costs by itself: a server that answers at once, in a process of its own.

    python -m benchmarks.loop [--json] [--runs N]

A step is a request with its tool call and result; a delta is one event of a streamed answer. Each is the difference
of long runs and short ones, so that what a run costs once does not count; the median over the runs is told, as time
by the clock and as this process's own time, which other processes do not lengthen. Beside it the bare openai client,
asking the same server for the same replies.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from statistics import median
from time import perf_counter, process_time

from ratsearch_lib import Agent, ChatClient
from tests.conformance.server import Reply, Request, ScriptedServer, finish, sse, text, tool_call, usage

FEW_STEPS, MANY_STEPS = 1, 9
FEW_DELTAS, MANY_DELTAS = 100, 5100


def read_article(title: str) -> str:
    """read an article"""
    return f"Article: {title}"


# The server


def reply(request: Request) -> Reply:
    """“N steps” is answered with N calls, one a request; “N deltas” with N words."""
    messages = request.json["messages"]
    question = next(message["content"] for message in messages if message["role"] == "user")
    number, kind = question.split()
    if kind == "deltas":
        return _answer(int(number))
    done = sum(message["role"] == "tool" for message in messages)
    if done < int(number):
        return _whole(sse(tool_call("read_article", {"title": f"T{done}"}), finish("tool_calls"), usage(100, 20)))
    return _answer(1)


_answers: dict[int, Reply] = {}


def _answer(words: int) -> Reply:
    if words not in _answers:
        _answers[words] = _whole(sse(*(text(f"{n:04} ") for n in range(words)), finish(), usage(100, words)))
    return _answers[words]


def _whole(stream: Reply) -> Reply:
    """The same stream as one piece of bytes, so that the server costs little."""
    parts = [part if isinstance(part, bytes) else f"data: {json.dumps(part)}\n\n".encode() for part in stream.parts]
    return Reply((b"".join(parts),), 200, stream.headers)


def serve() -> None:
    with ScriptedServer(reply) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


@contextmanager
def server_process():
    command = [sys.executable, "-m", "benchmarks.loop", "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


# The measurement

Ask = Callable[[str], Awaitable[None]]


async def measure(ask: Ask, few: str, many: str, runs: int) -> tuple[float, float]:
    """(clock, process) seconds that `many` takes longer than `few`: medians."""
    times: dict[str, list[tuple[float, float]]] = {few: [], many: []}
    await ask(few)
    for _ in range(runs):
        for question, taken in times.items():
            clock, own = perf_counter(), process_time()
            await ask(question)
            taken.append((perf_counter() - clock, process_time() - own))
    longer = [(m[0] - f[0], m[1] - f[1]) for f, m in zip(times[few], times[many], strict=True)]
    return median(clock for clock, _ in longer), median(own for _, own in longer)


def with_agent(base_url: str) -> Ask:
    agent = Agent(ChatClient(base_url), [read_article], mode="tools", max_steps=MANY_STEPS + 1)

    async def ask(question: str) -> None:
        async for _ in agent.arun(question):
            pass

    return ask


def with_openai(base_url: str) -> Ask:
    import openai

    client = openai.AsyncOpenAI(base_url=base_url, api_key="none")

    async def ask(question: str) -> None:
        """The same requests, the calls put together and run by the simplest code that does."""
        messages = [{"role": "user", "content": question}]
        while True:
            stream = await client.chat.completions.create(model="scripted", messages=messages, stream=True)
            arguments = ""
            async for chunk in stream:
                for choice in chunk.choices:
                    for call in choice.delta.tool_calls or ():
                        arguments += call.function.arguments or ""
            if not arguments:
                return
            messages.append({"role": "tool", "tool_call_id": "x", "content": read_article(**json.loads(arguments))})

    return ask


async def compare(base_url: str, runs: int) -> dict[str, dict[str, float]]:
    result = {}
    for name, make in (("ratsearch", with_agent), ("openai client", with_openai)):
        ask = make(base_url)
        steps = await measure(ask, f"{FEW_STEPS} steps", f"{MANY_STEPS} steps", runs)
        deltas = await measure(ask, f"{FEW_DELTAS} deltas", f"{MANY_DELTAS} deltas", runs)
        result[name] = {
            "step_ms": round(steps[0] / (MANY_STEPS - FEW_STEPS) * 1e3, 2),
            "step_own_ms": round(steps[1] / (MANY_STEPS - FEW_STEPS) * 1e3, 2),
            "delta_us": round(deltas[0] / (MANY_DELTAS - FEW_DELTAS) * 1e6, 1),
            "delta_own_us": round(deltas[1] / (MANY_DELTAS - FEW_DELTAS) * 1e6, 1),
        }
    return result


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.loop", description=__doc__.split("\n")[0])
    options.add_argument("--data", help="not needed: nothing is read")
    options.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options.add_argument("--runs", type=int, default=12)
    options.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = options.parse_args()
    if args.serve:
        serve()
        return
    with server_process() as base_url:
        result = asyncio.run(compare(base_url, args.runs))
    if args.json:
        print(json.dumps(result))
        return
    print(f"{'':15}{'ms a step':>12}{'own':>8}{'µs a delta':>13}{'own':>8}")
    for name, each in result.items():
        print(f"{name:15}{each['step_ms']:>12}{each['step_own_ms']:>8}{each['delta_us']:>13}{each['delta_own_us']:>8}")


if __name__ == "__main__":
    main()
