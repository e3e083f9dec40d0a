"""Several archives behind the one tool that a model is given.

A title is read in the first archive that has it, and the result says which others have it too: ``Title (archive)``
reads it there. Where none has it, the nearest titles of all are listed together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from .archive import Archive, Entry
from .article import Article
from .choose import best_article
from .errors import ArchiveError, EntryNotFound
from .leads import LeadMatch
from .library import RELATED, Library
from .shelf import DOCUMENTS
from .spelling import unquoted
from .titles import TitleIndex, TitleMatch
from .tools import ReadResult, ToolContext

if TYPE_CHECKING:
    from .documents import DocumentStore

PICK = re.compile(r"(?P<title>.+?)\s*\((?P<label>[^()]+)\)(?P<section>\s*#.*)?", re.S)


class Libraries:
    """Several libraries, to be read as one: it has what `Library` has. The first ones come first where titles tie.

    >>> libraries = Libraries([Library.open("wikipedia.zim"), Library.open("wiktionary.zim")])  # doctest: +SKIP
    >>> print(libraries.read_article("Cheese (Wiktionary)"))                                    # doctest: +SKIP
    """

    def __init__(self, libraries: Sequence[Library]):
        if not libraries:
            raise ArchiveError("There is no archive to read: name one.")
        self.libraries = list(libraries)
        names = Counter(library.archive.path.name for library in libraries)
        twice = next((name for name, times in names.items() if times > 1), None)
        if twice is not None:
            raise ArchiveError(f"Two archives are called {twice}: rename one, so that they can be told apart.")
        self.labels = labels(self.archives)

    @property
    def archives(self) -> list[Archive]:
        return [library.archive for library in self.libraries]

    @property
    def archive(self) -> Archive:
        """The first archive."""
        return self.libraries[0].archive

    @property
    def titles(self) -> TitleIndex | None:
        """The first archive's title index, once all have one."""
        found = [library.titles for library in self.libraries]
        return None if None in found else found[0]

    @property
    def index_progress(self) -> tuple[int, int | None] | None:
        """(entries done, entries in all) of the title indexes that are being built, else None."""
        running = [progress for library in self.libraries if (progress := library.index_progress)]
        if not running:
            return None
        totals = [total for _, total in running]
        return sum(done for done, _ in running), None if None in totals else sum(totals)

    @property
    def index_error(self) -> str:
        return " ".join(dict.fromkeys(library.index_error for library in self.libraries if library.index_error))

    def close(self) -> None:
        for library in self.libraries:
            library.close()

    def __enter__(self) -> Libraries:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Documents stand with the first archive

    def add_documents(self, store: DocumentStore) -> None:
        """See `Library.add_documents`."""
        self.libraries[0].add_documents(store)

    @property
    def tools(self) -> list[Callable[..., str]]:
        """What to give an agent."""
        return [self.read_article, *self.libraries[0].tools[1:]]

    def search_documents(self, query: str) -> str:
        return self.libraries[0].search_documents(query)

    def document(self, name: str) -> str | None:
        return self.libraries[0].document(name)

    # Titles

    def search_titles(self, query: str, limit: int = RELATED) -> list[TitleMatch]:
        """The articles of all archives with the nearest titles, best first, labelled as `related` does."""
        return self._merged([each.search_titles(query, limit) for each in self.libraries], limit)

    def search_text(self, query: str, limit: int = RELATED) -> list[LeadMatch | Entry]:
        """The articles that say most of a query's words, of each archive in turn."""
        found = [each.search_text(query, limit) for each in self.libraries]
        return [ranked[n] for n in range(limit) for ranked in found if n < len(ranked)][:limit]

    def related(self, query: str, limit: int = RELATED) -> list[TitleMatch]:
        """The articles to choose from; a title that stands in more than one archive is labelled with each."""
        return self._merged([each.related(query, limit) for each in self.libraries], limit)

    def _merged(self, lists: Sequence[Sequence[TitleMatch]], limit: int) -> list[TitleMatch]:
        """The matches of all archives by score; where scores tie, by rank."""
        ranked = [
            (-match.score, rank, number, match)
            for number, matches in enumerate(lists)
            for rank, match in enumerate(matches)
        ]
        merged = [(number, match) for _, _, number, match in sorted(ranked, key=lambda each: each[:3])][:limit]
        times = Counter(match.title.casefold() for _, match in merged)
        return [
            replace(match, title=f"{match.title} ({self.labels[number]})")
            if times[match.title.casefold()] > 1
            else match
            for number, match in merged
        ]

    # Reading

    def read_article(self, title: str, *, context: ToolContext | None = None) -> str:
        """The text of the article with this title, or the nearest titles: what the model sees."""
        return self.read(title, context).text

    read_article.schema = Library.read_article.schema

    def read(self, title: str, context: ToolContext | None = None) -> ReadResult:
        """As `Library.read`. ``Title (archive)`` reads the article of that archive, whose label is in the results."""
        context = context or ToolContext()
        wanted = " ".join(str(title).split())
        if context.choose:
            return self._choose(wanted, context)
        holders = [number for number, library in enumerate(self.libraries) if library.has(wanted)]
        if not holders and (picked := self._picked(wanted)):
            number, wanted = picked
            return self._labelled(self.libraries[number].read(wanted, context), [number], context)
        if holders:
            return self._labelled(self.libraries[holders[0]].read(wanted, context), holders, context)
        best = self._clearest(wanted)
        if best is not None:
            return self._labelled(self.libraries[best].read(wanted, context), [best], context)
        result = self.libraries[0].read(wanted, context) if self._may_be_document(wanted) else None
        return result if result is not None and result.title is not None else self._related(wanted)

    def _may_be_document(self, wanted: str) -> bool:
        return len(self.libraries[0].tools) > 1 or not unquoted(wanted)

    def _picked(self, wanted: str) -> tuple[int, str] | None:
        """The archive and the title that ``Title (archive)`` or ``Title (archive)#Section`` names."""
        match = PICK.fullmatch(unquoted(wanted))
        if match is None:
            return None
        label = _plain(match["label"]).casefold()
        for number, archive in enumerate(self.archives):
            if label in (each.casefold() for each in (self.labels[number], *map(_plain, _file_names(archive)))):
                return number, match["title"] + (match["section"] or "").strip()
        return None

    def _clearest(self, wanted: str) -> int | None:
        """The archive whose title is most clearly meant."""
        clear = [
            (match.score, -number) for number, each in enumerate(self.libraries) if (match := each.clear_match(wanted))
        ]
        return -max(clear)[1] if clear else None

    def _labelled(self, result: ReadResult, holders: list[int], context: ToolContext) -> ReadResult:
        """The result, whose first line says in which archive it stands, and in which others."""
        if result.title is None or result.source is None or result.source.startswith(f"{DOCUMENTS}/"):
            return result
        first, newline, rest = result.text.partition("\n")
        said = f" [{self.labels[holders[0]]}"
        if others := [f'"{result.title} ({self.labels[number]})"' for number in holders[1:]]:
            said += f"; there is also {', '.join(others)}"
        labelled = replace(result, text=f"{first}{said}]{newline}{rest}")
        if context.sources and context.sources[-1] is result:
            context.sources[-1] = labelled
        return labelled

    def _related(self, wanted: str) -> ReadResult:
        if not wanted:
            return self.libraries[0].read(wanted)
        titles = [match.title.replace("_", " ") for match in self.related(wanted)]
        if not titles:
            return ReadResult("Article not found. No title is like it.")
        return ReadResult("\n".join(["Article not found. Related articles:", *titles]))

    def _choose(self, wanted: str, context: ToolContext) -> ReadResult:
        """The article of any archive that answers the question best."""
        found = {}
        for number, library in enumerate(self.libraries):
            with suppress(ArchiveError):  # one that is damaged does not keep the others from answering
                found.update({id(each): (number, each) for each in library.candidates(wanted, context)})
        best = best_article([each for _, each in found.values()], context.query)
        if best is None:
            return self._related(wanted or context.question)
        number = found[id(best)][0]
        result = self.libraries[number].present(best, wanted, context)
        context.sources.append(result)
        return self._labelled(result, [number], context)

    def article(self, entry: Entry) -> Article:
        """The article at an entry of any of the archives."""
        return self.libraries[0].article(entry)

    def article_of(self, source: str) -> Article:
        """See `Library.article_of`."""
        if source.startswith(f"{DOCUMENTS}/"):
            return self.libraries[0].article_of(source)
        return self.article(self.entry_of(source))

    def has(self, title: str) -> bool:
        return any(library.has(title) for library in self.libraries)

    def entry_of(self, source: str) -> Entry:
        """See `Library.entry_of`."""
        for library in self.libraries:
            if source.partition("/")[0] == library.archive.path.name:
                return library.entry_of(source)
        raise EntryNotFound(f"The archive {source.partition('/')[0]} is not open.")


def labels(archives: Sequence[Archive]) -> list[str]:
    """A short name for each archive, that none shares: its title; with its language; or its file's name.

    No brackets are in one, so that ``Title (label)`` can be taken apart.
    """
    ways = (
        [_plain(archive.name) for archive in archives],
        [_plain(f"{archive.name} {archive.language}") for archive in archives],
        [_plain(archive.path.stem) for archive in archives],
    )
    for way in ways:
        if len({each.casefold() for each in way}) == len(way) and all(way):
            return way
    return [f"archive {number}" for number in range(1, len(archives) + 1)]


def _file_names(archive: Archive) -> tuple[str, str]:
    return archive.path.name, archive.path.stem


def _plain(name: str) -> str:
    return " ".join(re.sub(r"[()\[\]#_\x00-\x1f\x7f-\x9f]", " ", name).split())[:60]
