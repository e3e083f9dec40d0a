"""Does a model ask otherwise of a tool called `search` than of one called `read_article`?

    python -m benchmarks.behaviour [--endpoint URL [--model NAME] | --gguf FILE [--chat-template FILE]]
                                   [--questions N] [--results FILE] [--json]

One look-up in the sample encyclopedia stands behind both names, so only the words differ: `search(query)` or
`read_article(title)`, with four words of description or a paragraph of it, the result with or without its first line,
the system prompt with or without "You are a helpful assistant". Each question goes through all sixteen combinations,
at most three calls each, temperature 0. A row a run is added to --results (JSON Lines), and what stands there is not
asked again; notebooks/06 draws it.

Printed for each combination: how many questions led to a call, words in the first query, whether the first query is a
title of the archive, calls, calls that repeat an earlier one, whether the page was read; shares with 95 % intervals.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from ratsearch_lib import Agent, ChatClient, EntryNotFound, Library, LocalServer, ToolCall, ToolResult
from ratsearch_lib.sample import archive_path

from .squad import wilson

RESULTS = Path(__file__).resolve().parents[1] / "notebooks" / "recordings" / "behaviour.jsonl"
MAX_CALLS, RELATED, MAX_CHARS = 3, 8, 400
FACTORS = {
    "tool": ("search", "read_article"),
    "description": ("light", "long"),
    "first_line": (True, False),
    "assistant": (True, False),
}
QUESTIONS = {
    "What's the largest mammal in North America?": "American bison|List of largest mammals|Mammals of North America",
    "Where was Emmy Noether born?": "Emmy Noether",
    "How many people live in Buffalo in the state of New York?": "Buffalo, New York",
    "At what temperature does mercury boil?": "Mercury (element)",
    "How tall is the highest mountain of Alaska?": "Denali",
    "Who were the parents of Ada Lovelace?": "Ada Lovelace",
    "In what year was the first national park of the United States established?": "Yellowstone National Park",
    "How many prime numbers are there below 100?": "Prime number",
}
WORDS = {
    "search": ("query", "search wikipedia", "search query", "searching Wikipedia", "takes a search query"),
    "read_article": (
        "title", "read a wikipedia article", "article title", "reading Wikipedia articles",
        "takes the title of an article",
    ),
}  # fmt: skip
LONG = (
    " Use it whenever a question is about facts. Give one short {name}, not a whole question and not a list of "
    "keywords. If there is no such article, the titles of related articles are returned: choose one of them."
)


def make_tool(library: Library, name: str, description: str, first_line: bool) -> Callable[..., str]:
    """The look-up under this name."""
    parameter, short, about, _, _ = WORDS[name]
    head, more = ("Article: ", "Article not found. Related articles:\n") if first_line else ("", "")

    def look_up(title: str = "", query: str = "") -> str:
        wanted = title or query
        try:
            article = library.article(library.archive.entry(wanted))
        except EntryNotFound:
            return more + "\n".join(match.title for match in library.search_titles(wanted, RELATED))
        return head + article.text(MAX_CHARS).removeprefix("Article: ")

    look_up.schema = {
        "type": "function",
        "function": {
            "name": name,
            "description": short + ("." + LONG.format(name=parameter) if description == "long" else ""),
            "parameters": {
                "type": "object",
                "properties": {parameter: {"type": "string", "description": about}},
                "required": [parameter],
            },
        },
    }
    return look_up


def system_prompt(tool: str, assistant: bool) -> str:
    _, _, _, skill, takes = WORDS[tool]
    helpful = "You are a helpful assistant. " if assistant else ""
    return (
        f"{helpful}You have one skill: {skill}, for when you are directly asked for factual information. "
        f"The {tool} tool {takes}."
    )


def ask(client: ChatClient, library: Library, setting: dict[str, Any], question: str) -> dict[str, Any]:
    """One run, ended when a page that answers is read: its row."""
    gold, queries, read = QUESTIONS[question].split("|"), [], False
    tool = make_tool(library, setting["tool"], setting["description"], setting["first_line"])
    agent = Agent(client, [tool], mode="tools", system_prompt=system_prompt(setting["tool"], setting["assistant"]))
    with closing(agent.run(question)) as events:
        for event in events:
            if isinstance(event, ToolCall):
                queries.append(str(next(iter(event.arguments.values()), "")))
                read = read or page_of(library, queries[-1]) in gold
            if isinstance(event, ToolResult) and (read or len(queries) == MAX_CALLS):
                break
    return {
        **setting,
        "question": question,
        "queries": queries,
        "is_title": bool(queries) and page_of(library, queries[0]) is not None,
        "read": read,
    }


def page_of(library: Library, query: str) -> str | None:
    """The title of the page that is read for this query, None where only related titles are shown."""
    try:
        return library.archive.entry(query).title
    except EntryNotFound:
        return None


def settings() -> list[dict[str, Any]]:
    """All combinations; the first half is balanced by itself: in it each two factors meet equally often."""
    combinations = list(product(*FACTORS.values()))
    combinations.sort(key=lambda values: sum(values[n] == each[0] for n, each in enumerate(FACTORS.values())) % 2)
    return [dict(zip(FACTORS, values, strict=True)) for values in combinations]


def summary(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The figures of some rows; shares as [share, low, high]."""
    rows = list(rows)
    called = [row for row in rows if row["queries"]]

    def share(hits: int, n: int) -> list[float]:
        return [round(x, 3) for x in (hits / n, *wilson(hits, n))] if n else [0.0, 0.0, 1.0]

    def mean(values: list[int]) -> float:
        return round(sum(values) / len(values), 2) if values else 0.0

    return {
        "n": len(rows),
        "called": share(len(called), len(rows)),
        "words": mean([len(row["queries"][0].split()) for row in called]),
        "title": share(sum(row["is_title"] for row in called), len(called)),
        "calls": mean([len(row["queries"]) for row in called]),
        "repeats": mean([len(row["queries"]) - len(set(row["queries"])) for row in called]),
        "read": share(sum(row["read"] for row in rows), len(rows)),
    }


def load(file: Path) -> list[dict[str, Any]]:
    """The rows that stand in a file; none where there is no file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


@contextmanager
def open_client(args: argparse.Namespace) -> Iterator[ChatClient]:
    options = {"temperature": 0, "max_tokens": 80}
    if args.endpoint:
        yield ChatClient(args.endpoint, args.model, os.environ.get("OPENAI_API_KEY"), **options)
        return
    with LocalServer(args.gguf, n_ctx=4096, chat_template=args.chat_template) as server:
        yield ChatClient(server.base_url, None, server.api_key, **options)


def run(args: argparse.Namespace) -> None:
    """Ask what was not asked yet."""
    known = {tuple(row[name] for name in (*FACTORS, "question")) for row in load(args.results)}
    with Library.open(archive_path(), build="wait") as library, open_client(args) as client:
        model = client.find_model()
        half = len(settings()) // 2
        for some, question in product((settings()[:half], settings()[half:]), list(QUESTIONS)[: args.questions]):
            for setting in some:
                if (*setting.values(), question) not in known:
                    row = {"model": model, **ask(client, library, setting, question)}
                    with args.results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row, ensure_ascii=False) + "\n")
                    print(" ".join(map(str, setting.values())), row["queries"], row["read"], file=sys.stderr)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.behaviour", description=__doc__.split("\n")[0])
    options.add_argument("--data", help="not needed: the sample encyclopedia is read")
    options.add_argument("--endpoint", metavar="URL", help="a server; without it or --gguf nothing is asked")
    options.add_argument("--model", metavar="NAME")
    options.add_argument("--gguf", metavar="FILE", help="a model file to serve")
    options.add_argument("--chat-template", metavar="FILE", help="Jinja chat template for --gguf")
    options.add_argument("--questions", type=int, default=len(QUESTIONS), metavar="N")
    options.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    options.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    args = options.parse_args()
    if args.endpoint or args.gguf:
        run(args)
    rows = load(args.results)
    result = {
        " ".join(map(str, setting.values())): summary(row for row in rows if setting.items() <= row.items())
        for setting in settings()
    }
    if args.json:
        print(json.dumps(result))
        return
    print(f"{'tool, description, first line, assistant':42}{'n':>3}  called  words  title  calls  repeats  page read")
    for name, each in result.items():
        low, high = each["read"][1:]
        print(
            f"{name:42}{each['n']:>3}{each['called'][0]:>8.2f}{each['words']:>7.1f}{each['title'][0]:>7.2f}"
            f"{each['calls']:>7.1f}{each['repeats']:>9.1f}{each['read'][0]:>6.2f} ({low:.2f}–{high:.2f})"
        )


if __name__ == "__main__":
    main()
