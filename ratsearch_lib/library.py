"""The library: an archive with its titles, behind the one tool that a model is given.

`read_article` takes a title. If the article exists, its text comes back; if not, the nearest titles do, and weak models
recover from that. The first line of every result says what it is, since models ignore descriptions of formats.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from .archive import Archive, Entry
from .article import Article
from .choose import Candidate, best_article, gather
from .errors import ArchiveError, EntryNotFound, TitleIndexError
from .leads import LeadIndex, LeadMatch, fuse
from .present import article_at, present, present_document
from .shelf import DOCUMENTS, SEARCH_DOCUMENTS, Document, Shelf
from .spelling import unquoted, without_section
from .titles import TitleIndex, TitleMatch
from .titles.background import BackgroundBuild
from .tools import ReadResult, ToolContext
from .xapian import search_text, suggest

if TYPE_CHECKING:
    from .documents import DocumentStore

RELATED = 20
TEXT_SEARCH_S = 0.3  # for the archive's own full-text index, which may lie on a slow disk
SMALL_ARCHIVE = 50_000  # entries; the index of a smaller one is built sooner than a process starts

# All that a model is told of the tool: more of it never helped, and a stable schema keeps prompt caches warm.
READ_ARTICLE = {
    "type": "function",
    "function": {
        "name": "read_article",
        "description": "read a wikipedia article",
        "parameters": {
            "type": "object",
            "properties": {"title": {"type": "string", "description": "article title"}},
            "required": ["title"],
        },
    },
}


class Library:
    """What can be read. Made by `open`; safe for several threads.

    >>> from ratsearch_lib.sample import archive_path
    >>> library = Library.open(archive_path(), build="wait")
    >>> library.read_article("Bison bison").split("\\n")[0]
    'Article: American bison'
    """

    def __init__(self, archive: Archive, titles: TitleIndex | None = None, building: BackgroundBuild | None = None):
        self.archive = archive
        self._titles = titles
        self._building = building
        self._lock = Lock()
        self._shelf: Shelf | None = None
        self.index_error = ""  # why there will be no title index
        try:
            self._leads = LeadIndex.open(archive)
        except TitleIndexError:  # `ratsearch index --leads` builds one
            self._leads = None

    @classmethod
    def open(
        cls,
        path: str | Path,
        build: Literal["background", "wait", "never"] = "background",
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Library:
        """Open the archive at `path` and its title index, which is built once if there is none.

        build     "wait" for it; or let it be built in the "background", by a process of its own, while libzim's
                  suggestions answer; or "never"
        progress  called with (entries done, entries in all) while waiting

        ArchiveError when the archive cannot be opened, TitleIndexError when its index cannot be written anywhere.
        """
        archive = Archive(path)
        try:
            return cls(archive, TitleIndex.open(archive))
        except TitleIndexError:
            if build == "never":
                return cls(archive)
        if build == "wait" or archive.entry_count < SMALL_ARCHIVE:
            return cls(archive, TitleIndex.build(archive, progress=progress))
        return cls(archive, building=BackgroundBuild(archive.path))

    @property
    def archives(self) -> list[Archive]:
        """The archives that are read here."""
        return [self.archive]

    @property
    def titles(self) -> TitleIndex | None:
        """The title index; None as long as there is none."""
        with self._lock:
            if self._building is not None and (state := self._building.poll()):
                building, self._building = self._building, None
                try:
                    if state == "failed":
                        raise TitleIndexError(building.error)
                    self._titles = TitleIndex.open(self.archive)
                except TitleIndexError as error:
                    self.index_error = f"The title index could not be built: {error}"
            return self._titles

    @property
    def index_progress(self) -> tuple[int, int | None] | None:
        """(entries done, entries in all) while the title index is being built, else None."""
        self.titles  # noqa: B018 (which looks whether it has been built)
        building = self._building
        return building.progress if building is not None else None

    def close(self) -> None:
        """Stop building and let go of the index."""
        if self._building is not None:
            self._building.stop()
        if self._titles is not None:
            self._titles.close()
        if self._leads is not None:
            self._leads.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add_documents(self, store: DocumentStore) -> None:
        """Let the documents of `store` be read too, by name, and searched: `tools` has a second tool then."""
        self._shelf = Shelf(store)

    @property
    def tools(self) -> list[Callable[..., str]]:
        """What to give an agent: `read_article`, and with documents `search_documents`."""
        return [self.read_article, *([self.search_documents] if self._shelf else [])]

    def search_documents(self, query: str) -> str:
        """The documents that hold the query's words, by names that `read_article` knows: what the model sees."""
        return self._shelf.search(query) if self._shelf else "There are no documents to search."

    def document(self, name: str) -> str | None:
        """The text of the document, or the part of one, that is shown by this name."""
        document = self._shelf.find(name, exactly=True) if self._shelf else None
        return document and document.article.lead

    search_documents.schema = SEARCH_DOCUMENTS

    def search_titles(self, query: str, limit: int = RELATED) -> list[TitleMatch]:
        """The articles with the nearest titles, best first; from libzim's suggestions until the index is built."""
        titles = self.titles
        if titles is not None:
            return titles.search(query, limit)
        found = {}
        for title in suggest(self.archive, query, 2 * limit):
            with suppress(EntryNotFound, ArchiveError):
                entry = self.archive.entry(title)
                found.setdefault(entry.path, TitleMatch(entry.title, entry.path, 0.0, title))
        return list(found.values())[:limit]

    def search_text(self, query: str, limit: int = RELATED) -> list[LeadMatch] | list[Entry]:
        """The articles that say most of a query's words, best first: by the index of first paragraphs where it was
        built (`ratsearch index --leads`), else by the archive's own full-text index, where it has one."""
        if self._leads is not None:
            return self._leads.search(query, limit)
        return search_text(self.archive, query, limit, timeout_s=TEXT_SEARCH_S)

    def related(self, query: str, limit: int = RELATED) -> list[TitleMatch]:
        """The articles to choose from where no title is clearly meant: by titles and by what articles say, fused."""
        return fuse(self.search_titles(query, limit), self.search_text(query, limit), limit)

    def read_article(self, title: str, *, context: ToolContext | None = None) -> str:
        """The text of the article with this title, or the nearest titles: what the model sees."""
        return self.read(title, context).text

    read_article.schema = READ_ARTICLE

    def read(self, title: str, context: ToolContext | None = None) -> ReadResult:
        """As `read_article`, with what interfaces and evidence need; what was read is added to `context.sources`.

        ``Title#Section`` reads that section. Without a `context.max_tokens` the text is cut at 65,535 characters, with
        one it is what answers `context.question` best. ArchiveError where the archive is damaged.
        """
        context = context or ToolContext()
        wanted = " ".join(str(title).split())
        result = self._choose(wanted, context) if context.choose else self._read(wanted, context)
        if result.title is not None:
            context.sources.append(result)
        return result

    def _read(self, wanted: str, context: ToolContext) -> ReadResult:
        if self._shelf and (document := self._shelf.find(unquoted(wanted), exactly=True)):
            return present_document(document, context)
        for name in dict.fromkeys((wanted, unquoted(wanted))):
            with suppress(EntryNotFound):
                return present(self.archive.entry(name), context)
        wanted = unquoted(wanted)
        if self._shelf and (document := self._shelf.find(wanted)):
            return present_document(document, context)
        if not wanted:
            return ReadResult('Give the title of an article, for example read_article("Oxygen").')
        head, section = without_section(wanted)
        match = titles.decide(head) if (titles := self.titles) is not None else None
        if match is None:
            return self._related(wanted)
        entry = self.archive.entry(match.path)
        note = "" if titles.exact(head) else f' (for "{head}")'
        return present(entry, context, section=section, note=note)

    def _related(self, wanted: str) -> ReadResult:
        titles = [match.title.replace("_", " ") for match in self.related(wanted)]
        if not titles:
            return ReadResult("Article not found. No title is like it.")
        return ReadResult("\n".join(["Article not found. Related articles:", *titles]))

    def has(self, title: str) -> bool:
        """Whether an article, or a document, is called exactly that."""
        if self._shelf and self._shelf.find(unquoted(title), exactly=True):
            return True
        for name in dict.fromkeys((title, unquoted(title))):
            with suppress(EntryNotFound, ArchiveError):
                return bool(self.archive.entry(name))
        return False

    def clear_match(self, title: str) -> TitleMatch | None:
        """The article that is clearly meant by a title that none has exactly."""
        return titles.decide(without_section(unquoted(title))[0]) if (titles := self.titles) is not None else None

    def entry_of(self, source: str) -> Entry:
        """The entry that the `source` of a `ReadResult` names. EntryNotFound if it is of another archive."""
        file, _, path = source.partition("/")
        archive = next((each for each in self.archives if each.path.name == file), None)
        if archive is None:
            raise EntryNotFound(f"The archive {file} is not open.")
        return archive.entry(path)

    def article(self, entry: Entry) -> Article:
        """The article at an entry. ArticleError when the page holds no text."""
        return article_at(entry)

    def article_of(self, source: str) -> Article:
        """The whole article, or document, that the `source` of a `ReadResult` names. EntryNotFound, ArticleError."""
        file, _, name = source.partition("/")
        if file != DOCUMENTS or self._shelf is None:
            return self.article(self.entry_of(source))
        document = self._shelf.find(name, exactly=True)
        if document is None:
            raise EntryNotFound(f"There is no document {name} any more: look for another with search_documents.")
        return document.article

    def _choose(self, wanted: str, context: ToolContext) -> ReadResult:
        """The article that answers the question best, of those that the title and the question's words lead to."""
        best = best_article(self.candidates(wanted, context), context.query)
        return self._related(wanted or context.question) if best is None else self.present(best, wanted, context)

    def candidates(self, wanted: str, context: ToolContext) -> list[Candidate]:
        """The articles and documents that may answer `context.question`."""
        found = gather(self, wanted, context)
        if self._shelf:
            found += [Candidate(each, each.article, False) for each in self._shelf.candidates(context.query)]
        return found

    def present(self, best: Candidate, wanted: str, context: ToolContext) -> ReadResult:
        """One of the `candidates`, as it is read."""
        if isinstance(best.entry, Document):
            return present_document(best.entry, context)
        note = "" if best.named else f' (for "{wanted}")'
        return present(best.entry, context, note=note)
