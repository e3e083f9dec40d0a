"""TitleIndex: from a title as somebody remembers it to the article that it means.

build   every title of an archive → words and vocabulary indexes, in one pass
open    in milliseconds, through memory maps
search  → the nearest titles; redirects stand for the article they lead to
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ..archive import Archive
from ..errors import TitleIndexError
from .decide import is_clear
from .folder import About, build_and_open, is_whole, places, writable_place
from .normalise import exact_term, normalise, readable, words
from .search import MAX_QUERY_CHARS, Scored, find
from .store import ArchiveTitles, StoredTitles
from .words import WordIndex
from .write import Progress, write

log = logging.getLogger(__name__)

EXACT_CANDIDATES = 60


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """An article that a query may mean.

    title, path  the article's, redirects followed
    score        0 … 1: how well the title matches
    matched      the title that matched: the article's own, or that of a redirect to it
    """

    title: str
    path: str
    score: float
    matched: str


class TitleIndex:
    """The titles of an archive, found by what somebody types. Made by `build` or `open`; safe for several threads.

    >>> from ratsearch_lib import Archive
    >>> from ratsearch_lib.sample import archive_path
    >>> index = TitleIndex.build(Archive(archive_path()))
    >>> index.search("larges mamal")[0].title
    'List of largest mammals'
    """

    def __init__(self, folder: Path, archive: Archive | None = None):
        self.path = folder.parent
        self._words = WordIndex(folder)
        self._titles = StoredTitles(folder) if archive is None else ArchiveTitles(folder, archive)

    def __len__(self) -> int:
        return len(self._titles)

    @classmethod
    def build(
        cls,
        source: Archive | Iterable[tuple[str, str | None]],
        *,
        path: str | Path | None = None,
        progress: Progress | None = None,
    ) -> TitleIndex:
        """Builds and opens the index of an archive's titles, or of pairs (title, target title or None).

        path      the folder for it; by default ``FILE.zim.ratsearch`` beside the archive, or where that cannot be
                  written one in the user's cache folder. Pairs have no default.
        progress  called with (entries done, entries in all or None); the vocabulary counts as a fifth of them

        Waits while another process builds the same index, and then opens that one.
        TitleIndexError when it cannot be written, ArchiveError when the archive cannot be read.
        """
        if isinstance(source, Archive):
            place = Path(path) if path else writable_place(source)
            about = About.of(source)
        elif path is None:
            raise TitleIndexError("An index of pairs needs a path: the folder to keep it in.")
        else:
            place, about = Path(path), About("", 0)
        archive = source if isinstance(source, Archive) else None
        return build_and_open(
            place, about, lambda folder: write(source, folder, progress), lambda: cls._open(place, archive)
        )

    @classmethod
    def open(cls, archive: Archive | None, *, path: str | Path | None = None) -> TitleIndex:
        """Opens the index of an archive, or with None that of pairs at `path`.

        TitleIndexError if there is none, or only one that is half built, of another archive or of another version.
        """
        if archive is None:
            if path is None:
                raise TitleIndexError("An index of pairs needs a path: the folder it is kept in.")
            return cls._open(Path(path), None)
        tried = [Path(path)] if path else places(archive)
        for place in tried:
            if is_whole(place / "titles", About.of(archive)):
                return cls._open(place, archive)
        raise TitleIndexError(
            f"{archive.path.name} has no title index that fits it in {' or '.join(map(str, tried))}; build it first."
        )

    @classmethod
    def _open(cls, place: Path, archive: Archive | None) -> TitleIndex:
        about = About.read(place / "titles")
        expected = About.of(archive) if archive else About("", 0)
        if about != expected:
            raise TitleIndexError(f"The title index in {place} is of another archive or version; build it again.")
        try:
            return cls(place / "titles", archive)
        except (ValueError, OSError, IndexError, TypeError) as error:
            raise TitleIndexError(f"The title index in {place} is damaged ({error}); build it again.") from error

    def search(self, query: str, limit: int = 20) -> list[TitleMatch]:
        """The articles whose titles (or whose redirects' titles) are nearest to the query, best first.

        Any text will do: word order, missing and extra words, typos, accents, plurals and acronyms are forgiven.
        Nothing in it is an operator. The same query gives the same list always.
        """
        found = find(query, self._words, self._titles)
        return [match for match, _ in islice(self._articles(found), limit)]

    def exact(self, query: str) -> TitleMatch | None:
        """The article of the title that is the same as the query after `normalise`, or None.

        Of several such titles the one written most alike, then one that is no redirect.
        """
        if len(query) > MAX_QUERY_CHARS:
            return None
        key = normalise(query)
        extra, found = exact_term(query), words(query)
        if extra:
            positions = self._words.any_of({extra: 1.0}, EXACT_CANDIDATES)
        elif found:
            positions = self._words.all_of([{word: 1.0} for word in dict.fromkeys(found)], EXACT_CANDIDATES)
        else:
            return None
        text = readable(query)
        same = []
        for position in positions:
            title = self._titles.title(position)
            if normalise(title) == key:
                unlike = (title != text, title != text[:1].upper() + text[1:], title.lower() != text.lower())
                order = (*unlike, self._titles.is_redirect(position), position)
                same.append((order, Scored(1.0, position, title)))
        same.sort(key=lambda each: each[0])
        return next((match for match, _ in self._articles(scored for _, scored in same)), None)

    def decide(self, query: str) -> TitleMatch | None:
        """The article that the query clearly means, or None when it is better to show the nearest titles.

        That is a title which is exactly the query; or the same but for case, accents, punctuation and plurals, if only
        one article has such a title; or one that is spelt nearly the same while no other comes near.
        """
        exact = self.exact(query)
        if exact and exact.matched == readable(query):
            return exact
        found = find(query, self._words, self._titles)
        best = list(islice(self._articles(found), 2))
        if sum(scored.same_words for _, scored in best) > 1:
            return None
        if exact or not best:
            return exact
        match, scored = best[0]
        return match if is_clear(query, scored, best[1][1] if len(best) > 1 else None) else None

    def _articles(self, found: Iterable[Scored]) -> Iterator[tuple[TitleMatch, Scored]]:
        """The articles that the titles lead to, each once, by its best title."""
        seen: set[str] = set()  # by title: an archive may have the same one at two paths
        for scored in found:
            target = self._titles.target(scored.position)
            if target is not None and target[0] not in seen:
                seen.add(target[0])
                yield TitleMatch(*target, scored.score, scored.title), scored

    def close(self) -> None:
        """Lets go of the files; the index cannot be used after that."""
        self._titles.close()
        self._words.close()

    def __enter__(self) -> TitleIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
