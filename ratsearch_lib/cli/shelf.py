"""The documents of `--docs`, as a store that is up to date."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..cache import cache_folder
from .progress import progress_bar

if TYPE_CHECKING:
    from ..documents import DocumentStore


def open_documents(path: Path, report: Callable[[str], None]) -> DocumentStore:
    """The store at `path`; for a folder or another file, one in the cache folder, brought up to date."""
    from ..documents import DocumentStore
    from ..documents.database import is_store

    if path.is_file() and is_store(path):
        return DocumentStore(path)
    place = path.resolve()
    key = hashlib.blake2b(str(place).encode("utf-8", "replace"), digest_size=8).hexdigest()
    store = DocumentStore(cache_folder("documents") / f"{key}.db")
    with progress_bar(f"Indexing the documents of {path}", report, unit="files") as progress:
        done = store.index(place, progress=progress)
    report(f"{path}: {len(store.files()):,} documents" + (f", {len(done.skipped):,} skipped" if done.skipped else ""))
    return store
