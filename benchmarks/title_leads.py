"""What first paragraphs add to titles: is the right page among the related articles?

    python -m benchmarks.title_leads [--data FOLDER] [--json] [--sets WORD …] [--keep FOLDER]

The archive is wiki_intros.jsonl.gz: its titles, the redirects of redirects.tsv that lead to them (but those that are
asked for), its first paragraphs. The queries are queries/title_queries.jsonl, those with a gold page in the archive.

Printed for each set: n, and the share of queries whose page is first / among the first 20, by titles alone, by leads
alone, and by both as `fuse` puts them together. Then what each takes. --keep FOLDER builds the indexes there, and
uses them again the next time.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from ratsearch_lib.errors import TitleIndexError
from ratsearch_lib.leads import LeadIndex, fuse
from ratsearch_lib.titles import TitleIndex

from .titles import DATA, Corpus, Query, measure, note, table

WARM_UP = 20  # queries


def intros(data: Path) -> Iterator[tuple[str, str]]:
    """(title, first paragraph) of each article."""
    with gzip.open(data / "wiki_intros.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield row["title"], row["text"]


def load(data: Path, sets: list[str]) -> Corpus:
    articles = [title for title, _ in intros(data)]
    known = set(articles)
    rows = (data / "redirects.tsv").read_text(encoding="utf-8").splitlines()[1:]
    redirects = dict(row.split("\t")[:2] for row in rows)
    corpus = Corpus([], redirects, [])
    asked = set()
    for line in (data / "queries" / "title_queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        asked.add(row["query"])
        gold = frozenset(corpus.follow(title) for title in row["gold"]) & known
        if gold and (not sets or any(word in row["set"] for word in sets)):
            corpus.queries.append(Query(row["set"], row["query"], gold))
    leading = (title for title, target in redirects.items() if target in known and title not in known)
    corpus.titles.extend([*articles, *(title for title in leading if title not in asked)])
    return corpus


def open_indexes(data: Path, corpus: Corpus, folder: Path) -> tuple[TitleIndex, LeadIndex, dict[str, float]]:
    """Both indexes, built unless they are in the folder, and the seconds that building took."""
    seconds = {}
    start = perf_counter()
    try:
        titles = TitleIndex.open(None, path=folder)
    except TitleIndexError:
        note(f"building the index of {len(corpus.titles):,} titles")
        titles = TitleIndex.build([(title, corpus.redirects.get(title)) for title in corpus.titles], path=folder)
        seconds["titles"] = round(perf_counter() - start, 1)
    start = perf_counter()
    try:
        leads = LeadIndex.open(None, path=folder)
    except TitleIndexError:
        note("building the index of first paragraphs")
        leads = LeadIndex.build(intros(data), path=folder)
        seconds["leads"] = round(perf_counter() - start, 1)
    return titles, leads, seconds


def figures(data: Path, sets: list[str] | None = None, keep: Path | None = None) -> dict:
    """{"titles", "leads", "fused": {"sets": {SET: {"n", "r1", "r5", "r20", "mrr"}}, "p50_ms", "p95_ms"}, "build_s"}"""
    corpus = load(data, sets or [])
    with tempfile.TemporaryDirectory() as name:
        titles, leads, seconds = open_indexes(data, corpus, keep or Path(name))
        with titles, leads:
            for query in corpus.queries[:WARM_UP]:
                titles.search(query.text)
                leads.search(query.text)
            ways = {
                "titles": titles.search,
                "leads": leads.search,
                "fused": lambda query: fuse(titles.search(query), leads.search(query)),
            }
            result = {}
            for way, search in ways.items():
                note(f"{way}: {len(corpus.queries):,} queries")
                result[way] = measure(
                    corpus, corpus.queries, lambda query, search=search: [match.title for match in search(query)]
                )
    return {**result, "build_s": seconds}


def show(result: dict) -> None:
    ways = ("titles", "leads", "fused")
    rows = []
    for name, first in result["titles"]["sets"].items():
        found = [result[way]["sets"][name] for way in ways]
        rows.append([name, first["n"], *(f"{each['r1']:.3f} {each['r20']:.3f}" for each in found)])
    rows.append(["p50 / p95 ms", "", *(f"{result[way]['p50_ms']} / {result[way]['p95_ms']}" for way in ways)])
    table(["R@1 R@20", "n", "titles alone", "leads alone", "fused"], rows)
    for what, seconds in result["build_s"].items():
        print(f"building the index of {what}: {seconds} s")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.title_leads", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="laid out as ../shared/data (the default)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--sets", nargs="*", default=[], metavar="WORD", help="only sets with such a word in the name")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the indexes are kept for the next time")
    options = parser.parse_args()
    if not (options.data / "wiki_intros.jsonl.gz").is_file():
        parser.error(f"{options.data} holds no wiki_intros.jsonl.gz; name the data's folder with --data.")
    result = figures(options.data, options.sets, options.keep)
    if options.json:
        print(json.dumps(result))
    else:
        show(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
