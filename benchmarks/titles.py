"""Is the right page found by the title that somebody remembers, and how fast?

    python -m benchmarks.titles [--data FOLDER] [--json] [--beside N] [--sets WORD …]
    python -m benchmarks.titles --scale 100k 1M 20M

The titles are titles.txt.gz with the targets of redirects.tsv, the queries queries/title_queries.jsonl. Gold titles and
answers are followed through the redirects. A query that is itself a redirect's title does not count as its own answer:
such redirects are left out of the list. So are queries whose gold titles are not in it.

Printed for each set: n, the share of queries whose page is first, among the first 5, among the first 20, and the mean
reciprocal rank. Beside it, on N queries a set (2, since a query takes rapidfuzz seconds): fzf, rapidfuzz over all
titles, libzim's SuggestionSearcher.
Then how many queries `TitleIndex.decide` reads without asking, and how many of those pages are the right ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from ratsearch_lib.titles import TitleIndex

from . import title_rivals

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CHAIN = 8  # redirects to redirects


@dataclass(frozen=True, slots=True)
class Query:
    set: str
    text: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Titles, the known redirects among them, and the queries with a gold title in the list."""

    titles: list[str]
    redirects: dict[str, str]
    queries: list[Query]

    def follow(self, title: str) -> str:
        for _ in range(CHAIN):
            if title not in self.redirects:
                break
            title = self.redirects[title]
        return title

    def pairs(self) -> list[tuple[str, str | None]]:
        """What the index is built from: all titles but the redirects that are asked for, and where they lead."""
        asked = {query.text for query in self.queries}
        return [
            (title, self.redirects.get(title))
            for title in self.titles
            if title not in asked or title not in self.redirects
        ]

    def rank(self, query: Query, answers: Iterable[str]) -> int:
        """The place of the first gold page among the answers, 0 if it is not there."""
        pages = dict.fromkeys(self.follow(answer) for answer in answers)
        return next((place for place, page in enumerate(list(pages)[:20], 1) if page in query.gold), 0)


def load(data: Path, sets: list[str]) -> Corpus:
    with gzip.open(data / "titles.txt.gz", "rt", encoding="utf-8") as file:
        titles = file.read().splitlines()
    rows = (data / "redirects.tsv").read_text(encoding="utf-8").splitlines()[1:]
    redirects = dict(row.split("\t")[:2] for row in rows)
    corpus = Corpus(titles, redirects, [])
    known = set(titles)
    for line in (data / "queries" / "title_queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        gold = frozenset(corpus.follow(title) for title in row["gold"]) & known
        if gold and (not sets or any(word in row["set"] for word in sets)):
            corpus.queries.append(Query(row["set"], row["query"], gold))
    return corpus


def measure(corpus: Corpus, queries: list[Query], find: Callable[[str], list[str]]) -> dict:
    """{"sets": {SET: {"n", "r1", "r5", "r20", "mrr"}}, "p50_ms", "p95_ms"}"""
    ranks: dict[str, list[int]] = {}
    times = []
    for query in queries:
        start = perf_counter()
        answers = find(query.text)
        times.append((perf_counter() - start) * 1e3)
        ranks.setdefault(query.set, []).append(corpus.rank(query, answers))
    times.sort()
    return {
        "sets": {name: shares(found) for name, found in sorted(ranks.items())},
        "p50_ms": round(times[len(times) // 2], 2),
        "p95_ms": round(times[len(times) * 95 // 100], 2),
    }


def shares(ranks: list[int]) -> dict[str, float]:
    n = len(ranks)
    within = {f"r{k}": round(sum(0 < rank <= k for rank in ranks) / n, 3) for k in (1, 5, 20)}
    return {"n": n, **within, "mrr": round(sum(1 / rank for rank in ranks if rank) / n, 3)}


def decided(corpus: Corpus, index: TitleIndex) -> dict[str, dict[str, float]]:
    """By set: the share of queries read without asking, and the share of those pages that are right.

    `exact` and `other` tell apart queries that are a title after normalising: of some of these another page is gold,
    the one that answers the agent's question, though the page of that title is what the agent asked for.
    """
    groups: dict[str, list[tuple[bool, bool, bool]]] = {}
    for query in corpus.queries:
        if query.set.startswith("question_"):
            continue
        match = index.decide(query.text)
        exact = match is not None and index.exact(query.text) is not None
        right = match is not None and corpus.follow(match.title) in query.gold
        for name in (query.set, "all _spelling" if query.set.endswith("_spelling") else None, "all"):
            if name:
                groups.setdefault(name, []).append((match is not None, right, exact))
    return {
        name: {
            "n": len(found),
            "read": round(sum(read for read, _, _ in found) / len(found), 3),
            "right": share(right for read, right, _ in found if read),
            "right_exact": share(right for read, right, exact in found if read and exact),
            "right_other": share(right for read, right, exact in found if read and not exact),
        }
        for name, found in sorted(groups.items())
    }


def share(outcomes: Iterable[bool]) -> float | None:
    listed = list(outcomes)
    return round(sum(listed) / len(listed), 3) if listed else None


def sample(queries: list[Query], n: int) -> list[Query]:
    """n queries of each set, spread over it."""
    by_set: dict[str, list[Query]] = {}
    for query in queries:
        by_set.setdefault(query.set, []).append(query)
    return [query for found in by_set.values() for query in found[:: max(1, len(found) // n)][:n]]


def run(data: Path, sets: list[str], beside: int) -> dict:
    corpus = load(data, sets)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs = corpus.pairs()
        note(f"building the index of {len(pairs):,} titles")
        with TitleIndex.build(pairs, path=folder / "index") as index:

            def find(query: str) -> list[str]:
                return [match.title for match in index.search(query)]

            for query in corpus.queries[:20]:
                index.search(query.text)
            note(f"{len(corpus.queries):,} queries")
            result = measure(corpus, corpus.queries, find)
            result["decided"] = decided(corpus, index)
            if beside:
                some = sample(corpus.queries, beside)
                result["beside"] = {"ratsearch": measure(corpus, some, find)}
                for rival, make in (
                    ("fzf", lambda: title_rivals.fzf([title for title, _ in pairs], folder)),
                    ("rapidfuzz", lambda: title_rivals.rapidfuzz([title for title, _ in pairs])),
                    ("libzim", lambda: title_rivals.libzim(pairs, folder)),
                ):
                    note(f"{rival}: {len(some)} queries")
                    search = make()
                    result["beside"][rival] = measure(corpus, some, search) if search else None
    return result


def note(text: str) -> None:
    sys.stderr.write(text + "\n")


def show(result: dict) -> None:
    rows = [[name, *shares.values()] for name, shares in result["sets"].items()]
    table(["ratsearch, titles alone", "n", "R@1", "R@5", "R@20", "MRR"], rows)
    print(f"a query: p50 {result['p50_ms']} ms, p95 {result['p95_ms']} ms\n")
    rows = [[name, *shares.values()] for name, shares in result["decided"].items()]
    table(["read without asking", "n", "share", "right", "right, exact", "right, other"], rows)
    systems = result.get("beside")
    if systems:
        print()
        rows = []
        for name, ours in systems["ratsearch"]["sets"].items():
            theirs = [system and system["sets"][name] for system in systems.values()]
            rows.append([name, ours["n"], *(each and f"{each['r1']:.2f} {each['r20']:.2f}" for each in theirs)])
        rows.append(
            ["p50 / p95, ms", None, *(each and f"{each['p50_ms']} / {each['p95_ms']}" for each in systems.values())]
        )
        table(["R@1 and R@20 on a sample", "n", *systems], rows)


def table(head: list[str], rows: list[list]) -> None:
    lines = [head, *([cell(each) for each in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for first, *others in lines:
        print(
            first.ljust(widths[0]),
            *(each.rjust(width) for each, width in zip(others, widths[1:], strict=True)),
            sep="  ",
        )


def cell(value: str | float | None) -> str:
    if value is None:
        return "n/a"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.titles", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="laid out as ../shared/data (the default)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    parser.add_argument("--beside", type=int, default=2, metavar="N", help="queries a set for the others; 0: without")
    parser.add_argument("--sets", nargs="*", default=[], metavar="WORD", help="only sets with such a word in the name")
    parser.add_argument("--scale", nargs="+", metavar="COUNT", help="cost at these sizes instead: 100k 1M 20M")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"{options.data} is no folder; name the data with --data.")
    if options.scale:
        from . import title_scale

        result = title_scale.run(options.data, options.scale, note)
        printed = title_scale.show
    else:
        result, printed = run(options.data, options.sets, options.beside), show
    if options.json:
        print(json.dumps(result))
    else:
        printed(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
