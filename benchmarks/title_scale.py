"""What a title index costs at 100,000, 1 million, 20 million titles. Run as `python -m benchmarks.titles --scale 1M`.

Queries are queries/synthetic_titles.tsv where a gold title is in the list. Of 55,000 redirects in titles.txt.gz nobody
noted where they lead; a query that is such a title ("Mt Everest") would be its own answer, so real titles that are a
query, case aside, and not what it wants are left out, as they are in `benchmarks.titles`. Each size is built and
searched in a process of its own, so that memory is its own; private memory is what stays when the queries have run,
libraries included.
At up to a million titles the same is done with an archive, whose titles are read by entry number.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time

from ratsearch_lib.archive import Archive
from ratsearch_lib.titles import TitleIndex

from .synthetic_titles import made_titles
from .title_rivals import standard_output_to_nowhere, write_zim

ARCHIVE_MAX = 1_000_000
UNITS = {"k": 1_000, "m": 1_000_000}
COLUMNS = {
    "titles": "titles",
    "source": "read from",
    "build_cpu_s": "build CPU s",
    "build_s": "build s",
    "build_peak_mb": "peak MB",
    "disk_mb": "disk MB",
    "open_ms": "open ms",
    "private_mb": "private MB",
    "n": "queries",
    "r1": "R@1",
    "r20": "R@20",
    "p50_ms": "p50 ms",
    "p95_ms": "p95 ms",
}


def run(data: Path, sizes: list[str], note: Callable[[str], None]) -> dict:
    from .titles import load

    corpus = load(data, [])
    asked, wanted = asked_and_wanted(data / "queries" / "synthetic_titles.tsv")
    titles = [title for title in corpus.titles if title.lower() not in asked or title in wanted]
    rows = []
    for size in sizes:
        count = parse_count(size)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            pairs = folder / "pairs.tsv"
            note(f"{count:,}: writing the list")
            with pairs.open("w", encoding="utf-8") as file:
                for title, target in made_titles(count, titles, corpus.redirects):
                    file.write(f"{title}\t{target or ''}\n")
            sources = [pairs]
            if count <= ARCHIVE_MAX:
                note(f"{count:,}: writing an archive")
                with standard_output_to_nowhere():
                    write_zim(read_pairs(pairs), folder / "titles.zim")
                sources.append(folder / "titles.zim")
            for source in sources:
                note(f"{count:,}: building from {source.name}")
                built = in_child("build", source, folder / "index")
                note(f"{count:,}: searching")
                found = in_child("search", source, folder / "index", pairs, data / "queries" / "synthetic_titles.tsv")
                kind = "archive" if source.suffix == ".zim" else "pairs"
                rows.append({"titles": count, "source": kind, **built, **found})
    return {"scale": rows}


def asked_and_wanted(queries: Path) -> tuple[set[str], set[str]]:
    """The queries in lower case, and the titles that some query wants."""
    rows = [line.split("\t") for line in queries.read_text(encoding="utf-8").splitlines()]
    return {query.lower() for _, query, _ in rows}, {title for *_, gold in rows for title in gold.split("|")}


def parse_count(text: str) -> int:
    unit = UNITS.get(text[-1].lower(), 1)
    return int(text.rstrip("kKmM")) * unit


def read_pairs(path: Path) -> Iterator[tuple[str, str | None]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            title, _, target = line.rstrip("\n").partition("\t")
            yield title, target or None


def show(result: dict) -> None:
    from .titles import table

    head, *others = COLUMNS.values()
    rows = [[f"{row['titles']:,}", *(row[key] for key in list(COLUMNS)[1:])] for row in result["scale"]]
    table([head, *others], rows)
    print("\np50 of a query, ms (each # is half a millisecond)")
    for row in result["scale"]:
        print(f"{row['titles']:>12,} {row['source']:<8} {'#' * round(row['p50_ms'] * 2)} {row['p50_ms']}")


# What runs in the child


def in_child(what: str, *arguments: Path) -> dict:
    command = [sys.executable, "-m", "benchmarks.title_scale", what, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=Path(__file__).resolve().parents[1])
    return json.loads(done.stdout)


def build(source: Path, index: Path) -> dict:
    start, cpu = perf_counter(), process_time()
    TitleIndex.build(Archive(source) if source.suffix == ".zim" else read_pairs(source), path=index).close()
    return {
        "build_s": round(perf_counter() - start, 1),
        "build_cpu_s": round(process_time() - cpu, 1),
        "build_peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "disk_mb": round(sum(file.stat().st_size for file in index.rglob("*") if file.is_file()) / 1e6, 1),
    }


def search(source: Path, folder: Path, pairs: Path, queries: Path) -> dict:
    rows = [line.split("\t") for line in queries.read_text(encoding="utf-8").splitlines()]
    _, wanted = asked_and_wanted(queries)
    targets = {title: target or title for title, target in read_pairs(pairs) if title in wanted}
    archive = Archive(source) if source.suffix == ".zim" else None
    start = perf_counter()
    index = TitleIndex.open(archive, path=folder)
    open_ms = (perf_counter() - start) * 1e3
    ranks, times = [], []
    for _, query, titles in rows:
        gold = {targets[title] for title in titles.split("|") if title in targets}
        if not gold:
            continue
        start = perf_counter()
        found = [match.title for match in index.search(query)]
        times.append((perf_counter() - start) * 1e3)
        ranks.append(next((place for place, title in enumerate(found, 1) if title in gold), 0))
    times.sort()
    return {
        "open_ms": round(open_ms, 1),
        "private_mb": private_mb(),
        "n": len(ranks),
        "r1": round(sum(rank == 1 for rank in ranks) / len(ranks), 3),
        "r20": round(sum(rank > 0 for rank in ranks) / len(ranks), 3),
        "p50_ms": round(times[len(times) // 2], 2),
        "p95_ms": round(times[len(times) * 95 // 100], 2),
    }


def private_mb() -> float | None:
    """Memory of this process alone, without files that are mapped; None where the system does not say."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    return round(next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) / 1024, 1)


if __name__ == "__main__":
    task = {"build": build, "search": search}[sys.argv[1]]
    sys.stdout.write(json.dumps(task(*map(Path, sys.argv[2:]))))
