"""Your own documents: files cut into chunks, an index of their words, and search in it.

The parts, in the order in which a file passes them: `walk` and `ignore` find it, `update` sees whether it has changed,
`prepare` (in several processes by `workers`) makes what is written of it: `extract` its text (with `encoding`, `page`,
`office` and `pdf`), `chunk` the pieces, `terms` their words; `writer` writes that, `segments` holds the index, `search`
ranks by it, `snippet` shows why. `database` and `lock` keep it whole; `store` is all of it, `records` what it tells.
"""

from .records import Chunk, IndexReport, SearchResult, Stats
from .store import DocumentStore

__all__ = ["Chunk", "DocumentStore", "IndexReport", "SearchResult", "Stats"]
