"""Are the right documents found, how fast, and what does it cost?

    python -m benchmarks.documents [--data FOLDER] [--json] [--chunks 100k [1M …]] [--no-scale] [--keep FOLDER]

Quality: nDCG@10 on Cranfield (judged/cranfield, gains as given) and on the paragraphs of reading/xquad_*.json, each
question's own paragraph being the right one; every document a file, indexed as it comes, of several chunks of a file
the best one counting. Beside it SQLite's FTS5 (porter, unicode61) and bm25s as they come.

Scale: see document_scale.py, and document_corpus.py for what text that is.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from math import log2
from pathlib import Path

from ratsearch_lib.documents import DocumentStore

from . import document_rivals, document_scale
from .title_scale import parse_count
from .titles import note, table

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
K = 10
LANGUAGES = ("en", "zh", "ar", "de", "es")
Judged = tuple[str, list[str], list[tuple[str, dict[int, int]]]]  # name, documents, queries with gains
Search = Callable[[str], list[int]]


def judged_sets(data: Path) -> Iterator[Judged]:
    folder = data / "judged" / "cranfield"
    documents = json.loads((folder / "docs.json").read_text(encoding="utf-8"))
    numbers = {document["id"]: number for number, document in enumerate(documents)}
    gains = json.loads((folder / "qrels.json").read_text(encoding="utf-8"))
    queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    yield "cranfield", [document["text"] for document in documents], [
        (query["query"], {numbers[id]: gain for id, gain in gains[query["id"]].items() if id in numbers})
        for query in queries
        if query["id"] in gains
    ]  # fmt: skip
    for language in LANGUAGES:
        pages = json.loads((data / "reading" / f"xquad_{language}.json").read_text(encoding="utf-8"))["data"]
        paragraphs = [paragraph for page in pages for paragraph in page["paragraphs"]]
        yield f"xquad_{language}", [paragraph["context"] for paragraph in paragraphs], [
            (question["question"], {number: 1})
            for number, paragraph in enumerate(paragraphs)
            for question in paragraph["qas"]
        ]  # fmt: skip


def ndcg(found: list[int], gains: dict[int, int]) -> float:
    """Normalised discounted cumulative gain of the first ten (Järvelin and Kekäläinen, 2002)."""
    best = sum(gain / log2(place + 2) for place, gain in enumerate(sorted(gains.values(), reverse=True)[:K]))
    return sum(gains.get(number, 0) / log2(place + 2) for place, number in enumerate(found[:K])) / best


def ratsearch(documents: list[str], folder: Path) -> Search:
    for number, text in enumerate(documents):
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    store = DocumentStore(folder.with_suffix(".db"))
    store.index(folder)

    def search(query: str) -> list[int]:
        return list(dict.fromkeys(int(each.title.split(".")[0]) for each in store.search(query, k=3 * K)))[:K]

    return search


def quality(data: Path) -> dict[str, dict[str, float | None]]:
    result: dict[str, dict[str, float | None]] = {}
    for name, documents, queries in judged_sets(data):
        note(f"{name}: {len(documents):,} documents, {len(queries):,} queries")
        queries = [(query, gains) for query, gains in queries if gains]
        with tempfile.TemporaryDirectory() as folder:
            (place := Path(folder) / "files").mkdir()
            systems = {
                "ratsearch": ratsearch(documents, place),
                "fts5": document_rivals.fts5(documents),
                "bm25s": document_rivals.bm25s(documents),
            }
            for system, search in systems.items():
                mean = search and sum(ndcg(search(query), gains) for query, gains in queries) / len(queries)
                result.setdefault(system, {})[name] = mean if mean is None else round(mean, 4)
    return result


def show(result: dict) -> None:
    quality = result.get("quality")
    if quality:
        table(["nDCG@10", *quality], [[name, *(each[name] for each in quality.values())] for name in result["ndcg10"]])
        print()
    for row in result.get("scale", ()):
        document_scale.show(row)
        print()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.documents", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="laid out as ../shared/data (the default)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    parser.add_argument("--chunks", nargs="+", default=["100k"], metavar="COUNT", help="sizes to measure: 100k 1M")
    parser.add_argument("--no-scale", action="store_true", help="quality alone")
    parser.add_argument("--no-quality", action="store_true", help="scale alone")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="put the text and the store here, and leave them")
    options = parser.parse_args()
    result: dict = {}
    if not options.no_quality:
        if not options.data.is_dir():
            parser.error(f"{options.data} is no folder; name the data with --data.")
        result["quality"] = quality(options.data)
        result["ndcg10"] = result["quality"]["ratsearch"]
    if not options.no_scale:
        result["scale"] = [document_scale.run(parse_count(size), options.keep, note) for size in options.chunks]
        first = result["scale"][0]
        result.update({name: first[name] for name in ("index_mb_s", "p50_ms", "p95_ms", "rss_mb")})
    if options.json:
        print(json.dumps(result))
    else:
        show(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
