"""The user's own documents as a library shows them: found by words, opened by name, a part of them by its number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from .article import Article

if TYPE_CHECKING:  # numpy and SQLite, for who has no documents
    from .documents import DocumentStore
    from .documents.records import Chunk

DOCUMENTS = "documents"  # what the source of a document begins with, where that of an article has an archive's name
FOUND = 8
AROUND = 1  # parts before and after the one that was asked for
FROM_SEARCH = 3  # documents that may answer, where the model cannot choose

# All that a model is told of it, as little as of `read_article`.
SEARCH_DOCUMENTS = {
    "type": "function",
    "function": {
        "name": "search_documents",
        "description": "search the user's documents",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "keywords"}},
            "required": ["query"],
        },
    },
}


@dataclass(frozen=True, slots=True)
class Document:
    """A file, or from `number` on a part of it with its neighbours, as an article."""

    name: str
    article: Article
    title: str


class Shelf:
    """The documents of a store under the names that a model is shown: paths from the folder that was indexed."""

    def __init__(self, store: DocumentStore):
        self.store = store
        self.roots = store.roots()

    def name(self, path: str) -> str:
        """A path as it is shown.

        >>> shelf = Shelf.__new__(Shelf)
        >>> shelf.roots = ["/home/ada/notes"]
        >>> shelf.name("/home/ada/notes/2024/plan.md")
        '2024/plan.md'
        """
        for root in self.roots:
            if PurePath(path).is_relative_to(root):
                return PurePath(path).relative_to(root).as_posix()
        return path

    def find(self, wanted: str, *, exactly: bool = False) -> Document | None:
        """The document that `wanted` names: ``notes/plan.md``, ``notes/plan.md#3``; unless `exactly`, also ``plan``.

        None when there is no such file, or more than one.
        """
        wanted = wanted.strip().removeprefix("./")
        for name, number in _split(wanted):
            path = self._path(name, exactly)
            if path is not None and (document := self._document(path, number)) is not None:
                return document
        return None

    def _path(self, wanted: str, exactly: bool) -> str | None:
        if not wanted or "\0" in wanted:
            return None
        for path in (*(str(PurePath(root, wanted)) for root in self.roots), wanted):
            if (path == wanted or self.name(path) == wanted) and self.store.holds(path):
                return path
        if exactly:
            return None
        names = {self.name(path): path for path in reversed(self.store.files())}
        folded = wanted.casefold()
        for key in (str.casefold, _file_name, _stem):  # of one kind there may be one alone
            found = [path for name, path in names.items() if key(name) == folded]
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def _document(self, path: str, number: int | None) -> Document | None:
        first, last = (0, None) if number is None else (max(0, number - AROUND), number + AROUND)
        parts = self.store.read(path, first, last)
        if not parts or (number is not None and all(part.chunk != number for part in parts)):
            return None
        name = self.name(path)
        title = name if number is None else f"{name}#{number}"
        text = "\n\n".join(part.text.strip("\n") for part in parts)
        return Document(title, Article(PurePath(path).name, lead=text), _title_line(title, parts, number))

    def search(self, query: str, limit: int = FOUND) -> str:
        """What a model sees of a search: the names of the parts that were found, each with a snippet."""
        found = self.store.search(query, limit)
        if not found:
            return "No document found. Try other words."
        lines = [f"{self.name(each.path)}#{each.chunk}: {each.snippet}" for each in found]
        return "\n".join(["Documents found. Read one by its name:", *lines])

    def candidates(self, query: str) -> list[Document]:
        """The parts that answer best, with their neighbours."""
        found = [self._document(each.path, each.chunk) for each in self.store.search(query, FROM_SEARCH)]
        return [document for document in found if document is not None]


def _split(wanted: str) -> list[tuple[str, int | None]]:
    """The names that `wanted` may be, and the part's number: a file's own name may hold a "#"."""
    numbered = re.fullmatch(r"(.+?)\s*#\s*(\d{1,9})", wanted)
    return [(wanted, None)] + ([(numbered[1], int(numbered[2]))] if numbered else [])


def _file_name(name: str) -> str:
    return PurePath(name).name.casefold()


def _stem(name: str) -> str:
    return PurePath(name).stem.casefold()


def _title_line(title: str, parts: list[Chunk], number: int | None) -> str:
    if number is None or len(parts) == 1:
        return f"Document: {title}"
    return f"Document: {title} (with its neighbours, {parts[0].chunk} to {parts[-1].chunk})"
