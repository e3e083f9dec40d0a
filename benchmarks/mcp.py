"""How soon `ratsearch mcp` answers: from its start, and from the moment that a client is connected.

    python -m benchmarks.mcp [--data FOLDER] [--json]

Beside it, in the same run, a server of the same SDK that does nothing: one tool, which returns a constant. The archive
is en_100_mini (or the sample, where there are no real ones), whose title index is built before.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from ratsearch_lib.article.select import estimate_tokens
from ratsearch_lib.library import Library
from ratsearch_lib.sample import archive_path

ROOT = Path(__file__).resolve().parent.parent
RUNS = 5
BARE = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare")
@server.tool()
def read_article(title: str) -> str:
    "read a wikipedia article"
    return title
server.run()
"""


async def session(command: list[str], title: str) -> dict[str, float]:
    """Seconds from the start of the server to the handshake and to the first answer; then for each of 20 more."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    async with Client(
        StdioServerParameters(command=command[0], args=command[1:], env=environ), mode="legacy"
    ) as client:
        connected = time.perf_counter()
        await client.call_tool("read_article", {"title": title})
        first = time.perf_counter()
        later = []
        for _ in range(20):
            before = time.perf_counter()
            await client.call_tool("read_article", {"title": title})
            later.append(time.perf_counter() - before)
        tools = (await client.list_tools()).tools
    listed = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])
    return {
        "start_to_connected_s": connected - start,
        "start_to_first_answer_s": first - start,
        "connected_to_first_answer_s": first - connected,
        "later_answer_s": statistics.median(later),
        "tool_list_tokens": estimate_tokens(listed),
    }


async def measure(archive: Path, title: str) -> dict[str, dict[str, float]]:
    commands = {
        "ratsearch mcp": [sys.executable, "-m", "ratsearch_lib", "mcp", "--zim", str(archive)],
        "bare SDK server": [sys.executable, "-c", BARE],
    }
    runs = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            runs[name].append(await session(command, title))
    return {name: {key: min(run[key] for run in each) for key in each[0]} for name, each in runs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="How soon ratsearch mcp answers.")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", metavar="FOLDER")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        real = sorted((args.data / "zim").glob("*en_100_mini*.zim"))
        archive = Path(shutil.copy(real[0] if real else archive_path(), folder))
        with Library.open(archive, build="wait") as library:
            title = library.search_titles("united states", 1)[0].title if real else "American bison"
        figures = asyncio.run(measure(archive, title))
    if args.json:
        print(json.dumps(figures))
        return
    print(f"{archive.name}, read_article({title!r}), the best of {RUNS} runs")
    for key in next(iter(figures.values())):
        shown = "   ".join(f"{name} {each[key]:8.3f}" for name, each in figures.items())
        print(f"{key:30} {shown}")


if __name__ == "__main__":
    main()
