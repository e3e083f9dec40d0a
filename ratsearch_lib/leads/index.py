"""LeadIndex: from what somebody asks to the articles whose first paragraph says it.

A title index knows names; descriptions and questions ("band that recorded Renegade") are found by what articles say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ..archive import Archive
from ..errors import TitleIndexError
from ..text import ANALYZER_VERSION, STOP_WORDS, tokens
from ..titles.folder import About, build_and_open, is_whole, places, writable_place
from ..titles.ordered import OrderedReader
from ..titles.store import ArchiveTitles, StoredTitles
from .write import TEXT, Progress, write

LEADS = "leads"  # the folder beside the titles', kept and written as that one is
FORMAT_VERSION = 1
MAX_QUERY_CHARS, MAX_QUERY_TERMS = 2000, 64
STOP_TOKENS = frozenset(token for word in STOP_WORDS for token in tokens(word))


@dataclass(frozen=True, slots=True)
class LeadMatch:
    """An article whose title and first paragraph hold words of a query; `score` is BM25, of no fixed scale."""

    title: str
    path: str
    score: float


class LeadIndex:
    """The first paragraphs of an archive's articles, by BM25. Made by `build` or `open`; safe for several threads.

    >>> from ratsearch_lib.sample import archive_path
    >>> index = LeadIndex.build(Archive(archive_path()))
    >>> index.search("rodent that lives in sewers")[0].title
    'Brown rat'
    """

    def __init__(self, folder: Path, archive: Archive | None = None):
        import tantivy

        self.path = folder.parents[1]  # as that of the title index
        self._texts = OrderedReader(folder / TEXT)
        self._query, self._should = tantivy.Query, tantivy.Occur.Should
        self._titles = StoredTitles(folder) if archive is None else ArchiveTitles(folder, archive)

    def __len__(self) -> int:
        return len(self._titles)

    @classmethod
    def build(
        cls,
        source: Archive | Iterable[tuple[str, str]],
        *,
        path: str | Path | None = None,
        progress: Progress | None = None,
    ) -> LeadIndex:
        """Builds and opens the index of an archive's articles, or of pairs (title, lead).

        path      the folder that gets a subfolder ``leads``; by default that of the title index. Pairs have no default.
        progress  called with (entries done, entries in all or None)

        Waits while another process builds the same index, and then opens that one.
        TitleIndexError when it cannot be written, ArchiveError when the archive cannot be read.
        """
        archive = source if isinstance(source, Archive) else None
        if path is None:
            if archive is None:
                raise TitleIndexError("An index of pairs needs a path: the folder to keep it in.")
            path = writable_place(archive)
        place = Path(path) / LEADS
        return build_and_open(
            place, _about(archive), lambda folder: write(source, folder, progress), lambda: cls._open(place, archive)
        )

    @classmethod
    def open(cls, archive: Archive | None, *, path: str | Path | None = None) -> LeadIndex:
        """Opens the index of an archive, or with None that of pairs at `path`.

        TitleIndexError if there is none, or only one that is half built, of another archive or of another version.
        """
        if archive is None and path is None:
            raise TitleIndexError("An index of pairs needs a path: the folder it is kept in.")
        tried = [Path(path)] if path else places(archive)
        for place in tried:
            if is_whole(place / LEADS / "titles", _about(archive)):
                return cls._open(place / LEADS, archive)
        name = archive.path.name if archive else "The list of pairs"
        raise TitleIndexError(
            f"{name} has no index of first paragraphs that fits it in {' or '.join(map(str, tried))}; "
            "build it first (`ratsearch index --leads`)."
        )

    @classmethod
    def _open(cls, place: Path, archive: Archive | None) -> LeadIndex:
        try:
            return cls(place / "titles", archive)
        except (ValueError, OSError, IndexError, TypeError) as error:
            raise TitleIndexError(
                f"The index of first paragraphs in {place} is damaged ({error}); delete the folder and build it again."
            ) from error

    def search(self, query: str, limit: int = 20) -> list[LeadMatch]:
        """The articles whose title and first paragraph fit the query best; [] where none holds a word of it.

        Any text will do, and nothing in it is an operator. The same query gives the same list always.
        """
        terms = [(self._should, self._query.term_query(self._texts.schema, "text", token)) for token in asked(query)]
        if not terms or limit < 1:
            return []
        hits = self._texts.search_scored(self._query.boolean_query(terms), limit)
        found = []
        for score, position in sorted(hits, key=lambda hit: (-hit[0], hit[1])):
            target = self._titles.target(position)
            if target is not None:
                found.append(LeadMatch(*target, score))
        return found

    def close(self) -> None:
        """Lets go of the files; the index cannot be used after that."""
        self._titles.close()

    def __enter__(self) -> LeadIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def asked(query: str) -> list[str]:
    """The tokens of a query that are worth looking for: all, if it has none but stop words.

    >>> asked("Who are the Wailers?"), asked("The Who")
    (['wailer'], ['the', 'who'])
    """
    found = tokens(query[:MAX_QUERY_CHARS])
    return ([token for token in found if token not in STOP_TOKENS] or found)[:MAX_QUERY_TERMS]


def _about(archive: Archive | None) -> About:
    """As for titles, but what made the terms is the analyzer of texts."""
    about = About.of(archive) if archive else About("", 0)
    return replace(about, normaliser=ANALYZER_VERSION, format=FORMAT_VERSION)
