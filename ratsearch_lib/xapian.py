"""What an archive's own indexes find: titles that begin alike, and articles whose text holds the words.

Both demand every word of a query, so both are asked again with words left out, the most telling kept longest.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from itertools import combinations

from rapidfuzz import fuzz, process
from rapidfuzz.utils import default_process

from .archive import Archive, Entry
from .errors import ArchiveError, EntryNotFound
from .text import STOP_WORDS, words

log = logging.getLogger(__name__)

MAX_WORDS = 6  # of a query, the rarest: 2**6 - 1 ways to leave some out
MAX_SEARCHES = 24


def suggest(archive: Archive, query: str, limit: int = 20) -> list[str]:
    """Titles that libzim suggests for a query, the most alike first.

    >>> from ratsearch_lib.sample import archive_path
    >>> suggest(Archive(archive_path()), "brown rat", 1)
    ['Brown rat']
    """
    from libzim.suggestion import SuggestionSearcher

    searcher = SuggestionSearcher(archive._zim)
    titles: dict[str, None] = {}
    parts = [part for part in query.replace("_", " ").split() if part.strip()]
    for kept in _fewer(list(range(len(parts)))):
        text = " ".join(parts[i] for i in kept)
        for entry in _entries(archive, lambda text=text: searcher.suggest(text).getResults(0, 3 * limit)):
            titles[entry.title] = None
        if len(titles) >= 3 * limit:
            break
    ranked = process.extract(query, list(titles), scorer=fuzz.WRatio, processor=default_process, limit=limit)
    return [title for title, _, _ in ranked]


def search_text(archive: Archive, query: str, limit: int = 10, *, timeout_s: float | None = None) -> list[Entry]:
    """The articles whose text holds most of a query's words, weighted by rarity; none where the archive has no index.

    A word's weight is its inverse document frequency, log(N / df); an article gets the sum over the words that it was
    found by, and among equals Xapian's order stands. No search is begun after `timeout_s`.
    """
    if not archive.has_fulltext_index:
        return []
    from libzim.search import Query, Searcher

    searcher = Searcher(archive._zim)
    end = math.inf if timeout_s is None else time.monotonic() + timeout_s

    def search(kept: tuple[str, ...]):
        return searcher.search(Query().set_query(" ".join(kept)))

    weights: dict[str, float] = {}
    for word in dict.fromkeys(words(query)):
        if word not in STOP_WORDS and time.monotonic() < end:
            frequency = _estimate(search((word,)))
            if frequency:
                weights[word] = math.log(1 + archive.entry_count / frequency)
    kept_words = sorted(weights, key=weights.__getitem__, reverse=True)[:MAX_WORDS]
    found: dict[str, Entry] = {}
    subsets = [kept for size in range(1, len(kept_words) + 1) for kept in combinations(kept_words, size)]
    subsets.sort(key=lambda kept: -sum(weights[word] for word in kept))
    for kept in subsets[:MAX_SEARCHES]:
        for entry in _entries(archive, lambda kept=kept: search(kept).getResults(0, limit)):
            found.setdefault(entry.path, entry)
        if len(found) >= limit or time.monotonic() > end:
            break
    return list(found.values())[:limit]


def _fewer(indices: list[int]) -> Iterator[tuple[int, ...]]:
    """All, then each one left out, then each alone."""
    sizes = dict.fromkeys((len(indices), len(indices) - 1, 1))
    for size in sizes:
        if size > 0:
            yield from combinations(indices, size)


def _estimate(search) -> int:
    try:
        return search.getEstimatedMatches()
    except RuntimeError as error:
        log.info("full-text search: %s", error)
        return 0


def _entries(archive: Archive, paths: Callable) -> Iterator[Entry]:
    """The articles at the paths that an index names; what is damaged or missing is passed over."""
    try:
        for path in paths():
            try:
                entry = archive.entry(path)
            except (ArchiveError, EntryNotFound) as error:
                log.info("%s", error)
                continue
            if entry.is_html:
                yield entry
    except (RuntimeError, UnicodeDecodeError) as error:
        log.info("the index of %s cannot be read: %s", archive.path, error)
