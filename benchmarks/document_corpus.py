"""Real text for the scale part of `python -m benchmarks.documents`, from what is on this machine.

Manual pages, /usr/share/doc, GNU's info pages, and the sources of Python's standard library with their docstrings, each
unpacked. Where that is not enough, the same paragraphs are dealt anew: a further file has those of as many others, in
turns, so that its chunks are of real paragraphs, but none is a copy.
"""

from __future__ import annotations

import gzip
import os
import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from ratsearch_lib.documents.encoding import decode
from ratsearch_lib.text import STOP_WORDS

WORDS_A_CHUNK = 220  # what comes out of files of all sizes at the standard 300
HANDS = 12  # files whose paragraphs are dealt together
MAX_BYTES = 4_000_000
_SKIPPED = frozenset({"site-packages", "__pycache__", "test", "idle_test"})
_TERM = re.compile(r"(?<![\\\w])[A-Za-z]{3,15}(?!\w)")


def sources() -> list[str]:
    named = ("/usr/share/man", "/usr/share/doc", "/usr/share/info", sysconfig.get_path("stdlib"))
    return [folder for folder in named if os.path.isdir(folder)]


def _texts() -> Iterator[tuple[str, str]]:
    """The name and content of every file of text, each content once."""
    seen: set[int] = set()
    for root in sources():
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(set(folders) - _SKIPPED)
            for name in sorted(files):
                path = os.path.join(folder, name)
                if os.path.islink(path) or os.path.getsize(path) > MAX_BYTES:
                    continue
                try:
                    data = Path(path).read_bytes()
                    if name.endswith(".gz"):
                        data, name = gzip.decompress(data), name.removesuffix(".gz")
                except (OSError, EOFError, ValueError):
                    continue
                decoded = decode(data[:MAX_BYTES])
                if decoded and (key := crc32(data)) not in seen:
                    seen.add(key)
                    yield name, decoded[0]


def write(folder: Path, n_chunks: int, n_queries: int) -> dict:
    """Files of about `n_chunks` chunks in `folder`, in subfolders of 200. Returns what they are, and queries to ask.

    A query has three to six words of one line, in another order.
    """
    pool = list(_texts())
    draw = random.Random(7)
    draw.shuffle(pool)
    written, lines = _Folder(folder, n_chunks), []
    for name, text in pool:
        if not written.add(name, text):
            break
        lines += draw.sample(found, min(3, len(found))) if (found := _lines(text)) else []
    real_bytes, turn = written.n_bytes, 0
    while written.words < n_chunks * WORDS_A_CHUNK:
        turn += 1
        draw.shuffle(pool)
        for start in range(0, len(pool), HANDS):
            dealt = [text.split("\n\n") for _, text in pool[start : start + HANDS]]
            for hand in dealt:
                draw.shuffle(hand)
            mixed = [part for row in zip(*dealt, strict=False) for part in row]
            mixed += [part for hand in dealt for part in hand[min(map(len, dealt)) :]]
            size = max(1, len(mixed) // HANDS)
            for number in range(0, len(mixed), size):
                if not written.add(f"{turn}-{start + number}.txt", "\n\n".join(mixed[number : number + size])):
                    break
    draw.shuffle(lines)
    queries = [" ".join(draw.sample(words, min(len(words), draw.randint(3, 6)))) for words in lines[:n_queries]]
    return {"files": written.n_files, "mb": round(written.n_bytes / 1e6, 1), "dealt_anew": round(
        1 - real_bytes / written.n_bytes, 3), "queries": queries}  # fmt: skip


def _lines(text: str) -> list[list[str]]:
    """The telling words of lines that have at least three different ones."""
    found = []
    for line in text[:20_000].split("\n"):
        words = sorted({word.lower() for word in _TERM.findall(line)} - STOP_WORDS)
        if len(words) >= 3:
            found.append(words)
    return found


class _Folder:
    def __init__(self, folder: Path, n_chunks: int):
        self._folder, self._most = folder, n_chunks * WORDS_A_CHUNK
        self.n_files = self.n_bytes = self.words = 0

    def add(self, name: str, text: str) -> bool:
        if self.words >= self._most:
            return False
        data = text.encode("utf-8", "replace")
        folder = self._folder / f"{self.n_files // 200:04}"
        folder.mkdir(exist_ok=True, parents=True)
        (folder / f"{self.n_files:06}-{name[-80:]}").write_bytes(data)
        self.n_files += 1
        self.n_bytes += len(data)
        self.words += len(text.split())
        return True
