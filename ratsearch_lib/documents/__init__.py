"""Your own documents: files cut into chunks, an index of their words, and search in it.

The parts, in the order in which a file passes them: `walk` and `ignore` find it, `extract` makes text of it (with
`encoding`, `office` and `pdf`), `chunk` cuts that, `update` decides what has changed and writes it, `segments` holds
the index, `search` ranks by it, `snippet` shows why. `database` and `lock` keep it whole; `store` is all of it.
"""

from .store import Chunk, DocumentStore, IndexReport, SearchResult, Stats

__all__ = ["Chunk", "DocumentStore", "IndexReport", "SearchResult", "Stats"]
