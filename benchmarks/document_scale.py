"""What a store of 100,000 or a million chunks costs. Run by `python -m benchmarks.documents`.

Text is that of document_corpus.py, queries are three to six words of one of its lines. Indexing and searching run in
processes of their own. Memory is the most that a process had resident, mapped files included (VmHWM). Beside it, on the
same files: SQLite's FTS5 with the same chunks, and `grep -ril` for the first word of a query, as one would without.

Times depend on how busy the machine is: `loop_ms` is what a million additions in Python took during the run (about 50
on an idle machine of 2024).
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from ratsearch_lib.documents import DocumentStore

from . import document_corpus
from .titles import table

ROOT = Path(__file__).resolve().parents[1]
N_QUERIES = 300
N_UNCHANGED = 10_000
COLD_RUNS = 5
_LABELS = {
    "chunks": "chunks",
    "mb": "text, MB",
    "dealt_anew": "share of it dealt anew",
    "index_mb_s": "indexing, MB/s",
    "index_cpu_mb_s": "indexing, MB per s of CPU",
    "index_rss_mb": "indexing, MB of memory",
    "disk_mb": "store, MB",
    "p50_ms": "a query, p50 ms",
    "p95_ms": "a query, p95 ms",
    "rss_mb": "searching, MB of memory",
    "cold_s": "ratsearch docs search, s",
    "changed_s": "one changed file indexed again, s",
    "rescan_s": "10,000 unchanged files, s",
    "fts5_p50_ms": "FTS5: a query, p50 ms",
    "fts5_p95_ms": "FTS5: a query, p95 ms",
    "fts5_mb_s": "FTS5: indexing the chunks, MB/s",
    "grep_s": "grep -ril, s",
    "loop_ms": "a million additions, ms",
}


def run(n_chunks: int, keep: Path | None, note: Callable[[str], None]) -> dict:
    with tempfile.TemporaryDirectory(dir=keep) as name:
        folder = keep or Path(name)
        texts, store = folder / f"text-{n_chunks}", folder / f"store-{n_chunks}.db"
        described = texts.with_suffix(".json")
        if not described.exists():
            note(f"{n_chunks:,} chunks: collecting text")
            described.write_text(json.dumps(document_corpus.write(texts, n_chunks, N_QUERIES)))
        about = json.loads(described.read_text())
        (folder / "queries.json").write_text(json.dumps(about.pop("queries")))
        note("indexing")
        for suffix in ("", "-wal", "-shm", ".lock"):
            store.with_name(store.name + suffix).unlink(missing_ok=True)
        about |= in_child("index", store, texts)
        note("searching")
        about |= in_child("search", store, folder / "queries.json")
        about |= {"cold_s": cold(store, folder / "queries.json")}
        note("indexing again")
        about |= in_child("again", store, texts)
        note("FTS5 and grep")
        about |= in_child("fts5", store, folder / "queries.json", folder / "fts5.db")
        about |= {"grep_s": grep(texts, folder / "queries.json")}
    return about


def show(row: dict) -> None:
    table(["what it costs", f"{row['chunks']:,}"], [[label, row.get(name)] for name, label in _LABELS.items()])


def cold(store: Path, queries: Path) -> float:
    """Median time of a whole process that answers one query."""
    times = []
    for query in json.loads(queries.read_text())[:COLD_RUNS]:
        start = perf_counter()
        subprocess.run(
            [sys.executable, "-m", "ratsearch_lib", "docs", "--db", store, "search", query],
            check=True, stdout=subprocess.DEVNULL, cwd=ROOT,
        )  # fmt: skip
        times.append(perf_counter() - start)
    return round(median(times), 3)


def grep(texts: Path, queries: Path) -> float | None:
    if shutil.which("grep") is None:
        return None
    word = json.loads(queries.read_text())[0].split()[0]
    start = perf_counter()
    subprocess.run(["grep", "-ril", "--", word, texts], stdout=subprocess.DEVNULL)
    return round(perf_counter() - start, 2)


# What runs in the children


def in_child(what: str, *arguments: Path) -> dict:
    command = [sys.executable, "-m", "benchmarks.document_scale", what, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT)
    return json.loads(done.stdout)


def index(store: Path, texts: Path) -> dict:
    mb = sum(file.stat().st_size for file in texts.rglob("*") if file.is_file()) / 1e6
    start, before = perf_counter(), os.times()
    with DocumentStore(store) as opened:
        report = opened.index(texts)
    took, after = perf_counter() - start, os.times()
    cpu = sum(after[:4]) - sum(before[:4])
    return {
        "chunks": report.total_chunks,
        "mb": round(mb, 1),
        "index_s": round(took, 1),
        "index_mb_s": round(mb / took, 2),
        "index_cpu_mb_s": round(mb / cpu, 2),
        "index_rss_mb": most_memory_mb(),
        "disk_mb": round(store.stat().st_size / 1e6, 1),
        "loop_ms": loop_ms(),
    }


def search(store: Path, queries: Path) -> dict:
    times = []
    with DocumentStore(store) as opened:
        for query in ["the first opens the store", *json.loads(queries.read_text())]:
            start = perf_counter()
            opened.search(query)
            times.append((perf_counter() - start) * 1e3)
    first, *times = times
    times.sort()
    return {
        "first_ms": round(first, 1),
        "p50_ms": round(times[len(times) // 2], 2),
        "p95_ms": round(times[len(times) * 95 // 100], 2),
        "rss_mb": most_memory_mb(),
        "loop_ms": loop_ms(),
    }


def again(store: Path, texts: Path) -> dict:
    """One file that has changed, given by its name; then 10,000 files that have not, as a folder of their own."""
    file = next(path for path in sorted(texts.rglob("*")) if path.is_file() and 2000 < path.stat().st_size < 50_000)
    file.write_bytes(file.read_bytes() + b"\n\nOne more paragraph.\n")
    with DocumentStore(store) as opened:
        start = perf_counter()
        opened.index(file)
        changed_s = perf_counter() - start
    draw = random.Random(3)
    with tempfile.TemporaryDirectory(dir=store.parent) as name, DocumentStore(Path(name) / "many.db") as many:
        folder = Path(name) / "files"
        folder.mkdir()
        for number in range(N_UNCHANGED):
            if number % 100 == 0:
                (place := folder / str(number)).mkdir()
            (path := place / f"{number}.txt").write_text(f"File {number}: {draw.random()}")
            os.utime(path, (1.6e9, 1.6e9))
        wait_until_settled(path)
        many.index(folder)
        start = perf_counter()
        many.index(folder)
        return {"changed_s": round(changed_s, 3), "rescan_s": round(perf_counter() - start, 3)}


def wait_until_settled(last: Path) -> None:
    """A file that was made a moment ago is read once more, so that a change in the same tick is not missed."""
    from threading import Event
    from time import time

    Event().wait(max(0.0, last.stat().st_ctime + 2.5 - time()))


def fts5(store: Path, queries: Path, place: Path) -> dict:
    """The same chunks in a table of FTS5, and the same queries."""
    place.unlink(missing_ok=True)
    connection = sqlite3.connect(place)
    connection.execute("CREATE VIRTUAL TABLE chunk USING fts5(text, tokenize = 'porter unicode61')")
    n_bytes = 0

    def texts():
        nonlocal n_bytes
        with DocumentStore(store) as opened:
            for file in opened.dump():
                for chunk in file["chunks"]:
                    n_bytes += len(chunk["text"])
                    yield (chunk["text"],)

    start = process_time()
    connection.executemany("INSERT INTO chunk(text) VALUES (?)", texts())
    connection.commit()
    took = process_time() - start
    times = []
    for query in json.loads(queries.read_text()):
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        start = perf_counter()
        connection.execute(
            "SELECT rowid, snippet(chunk, 0, '', '', '…', 40) FROM chunk WHERE chunk MATCH ? ORDER BY rank LIMIT 5",
            (words,),
        ).fetchall()
        times.append((perf_counter() - start) * 1e3)
    times.sort()
    connection.close()
    place.unlink()
    return {
        "fts5_mb_s": round(n_bytes / 1e6 / took, 2),
        "fts5_p50_ms": round(times[len(times) // 2], 2),
        "fts5_p95_ms": round(times[len(times) * 95 // 100], 2),
    }


def most_memory_mb() -> int | None:
    """The most that this process had resident; None where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024)


def loop_ms() -> float:
    start, total = perf_counter(), 0
    for number in range(1_000_000):
        total += number
    return round((perf_counter() - start) * 1e3, 1)


if __name__ == "__main__":
    task = {"index": index, "search": search, "again": again, "fts5": fts5}[sys.argv[1]]
    sys.stdout.write(json.dumps(task(*map(Path, sys.argv[2:]))))
