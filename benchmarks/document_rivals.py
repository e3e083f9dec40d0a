"""What else ranks documents by BM25, as somebody would take it from its own page of examples."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from importlib.util import find_spec

K = 10
_WORD = re.compile(r"\w+")


def fts5(documents: list[str]) -> Callable[[str], list[int]]:
    """SQLite's own full-text index, English stems."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE document USING fts5(text, tokenize = 'porter unicode61')")
    connection.executemany("INSERT INTO document(rowid, text) VALUES (?, ?)", enumerate(documents, 1))

    def search(query: str) -> list[int]:
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(query))
        rows = connection.execute(
            "SELECT rowid - 1 FROM document WHERE document MATCH ? ORDER BY rank LIMIT ?", (words, K)
        )
        return [number for (number,) in rows]

    return search


def bm25s(documents: list[str]) -> Callable[[str], list[int]] | None:
    """bm25s with English stop words and stems; None if it is not installed."""
    if find_spec("bm25s") is None:
        return None
    import bm25s
    from Stemmer import Stemmer

    stemmer = Stemmer("english")
    retriever = bm25s.BM25()
    retriever.index(
        bm25s.tokenize(documents, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False
    )

    def search(query: str) -> list[int]:
        words = bm25s.tokenize(query, stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False)
        found, scores = retriever.retrieve(words, k=K, show_progress=False)
        return [int(number) for number, score in zip(found[0], scores[0], strict=True) if score > 0]

    return search
