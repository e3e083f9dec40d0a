"""A ZIM file: opening it, finding entries, listing its articles, reading what they hold.

The terms are openZIM's: an *archive* holds *entries*, each with a *path* and a *title*; an entry is an *item* (content
of a MIME type) or a *redirect* to another entry. Archives made before 2021 put a namespace before each path ("A/Oxygen"
for articles); newer ones do not. See https://wiki.openzim.org/wiki/ZIM_file_format.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import unquote

from .errors import ArchiveError, EntryNotFound
from .spelling import spellings
from .stubs import MAX_STUB_BYTES, sends_to

if TYPE_CHECKING:
    from libzim.reader import Entry as ZimEntry

log = logging.getLogger(__name__)

HTML_TYPES = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an archive.

    id             its number in the archive, from 0
    title, path    as the archive has them
    mimetype       "" for a redirect
    redirect_path  the path it redirects to, None for an item
    section        the section that a redirect or a "Title#Section" pointed at, else ""
    """

    archive: Archive = field(repr=False, compare=False)
    id: int
    title: str
    path: str
    mimetype: str = ""
    redirect_path: str | None = None
    section: str = ""

    @property
    def is_html(self) -> bool:
        return self.mimetype.startswith(HTML_TYPES)

    @property
    def content(self) -> bytes:
        """The item's bytes. ArchiveError where the file is damaged."""
        return self.archive.content(self.id)


class Archive:
    """A ZIM file, single or split (name the first part, ``.zimaa``, or leave the ``aa`` away).

    ArchiveError when it cannot be opened. Reading is safe from several threads.

    >>> from ratsearch_lib.sample import archive_path
    >>> archive = Archive(archive_path())
    >>> archive.entry("brown rat").title
    'Brown rat'
    """

    def __init__(self, path: str | Path):
        from libzim.reader import Archive as Zim

        self.path = Path(path)
        try:
            if self.path.is_dir():
                raise ArchiveError(f"{self.path} is a folder; name the ZIM file in it.")
            parts = (self.path, self.path.parent / f"{self.path.name}aa")
            file = next((part for part in parts if part.is_file()), None)  # libzim would wait for a pipe for ever
            if file is None:
                raise ArchiveError(f"There is no file {self.path}; check the path.")
            if not os.access(file, os.R_OK):
                raise ArchiveError(f"{file} may not be read; give yourself the right to read it.")
            self._zim = Zim(file)
            self._new_namespaces = self._zim.has_new_namespace_scheme
            self.uuid = self._zim.uuid.hex
            self.entry_count = self._zim.all_entry_count
            self.has_fulltext_index = self._zim.has_fulltext_index
        except (RuntimeError, UnicodeError, OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise ArchiveError(
                f"{self.path} cannot be opened as a ZIM archive ({reason}). It may be incomplete: compare its size "
                "and checksum with those of the download page, and download it again."
            ) from error

    def __repr__(self) -> str:
        return f"Archive({str(self.path)!r})"

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """libzim tells of damage by RuntimeError and UnicodeDecodeError, of ids beyond the end by IndexError."""
        try:
            yield
        except (RuntimeError, UnicodeDecodeError, IndexError, OSError) as error:
            reason = " ".join(str(error).split())
            raise ArchiveError(
                f"{what} of {self.path} cannot be read ({reason}): the file is damaged. Download it again."
            ) from error

    # What it says about itself

    @cached_property
    def metadata(self) -> Mapping[str, str]:
        """Its textual metadata: Title, Date, Language, Creator … (whatever of it can be read)."""
        found = {}
        for key in self._zim.metadata_keys:
            if not key.startswith("Illustration_"):
                try:
                    found[key] = bytes(self._zim.get_metadata(key)).decode("utf-8", "replace")
                except (RuntimeError, UnicodeDecodeError) as error:
                    log.info("metadata %s of %s cannot be read: %s", key, self.path, error)
        return MappingProxyType(found)

    @property
    def name(self) -> str:
        """Its title for people, or the file's name where it has none."""
        return self.metadata.get("Title", "").strip() or self.path.stem

    @property
    def language(self) -> str:
        """Its languages as ISO 639-3 codes, as the archive has them: "eng", or "eng,fra"; "" if it does not say."""
        return self.metadata.get("Language", "").strip()

    @cached_property
    def article_count(self) -> int:
        """How many articles it holds, redirects left out."""
        try:
            stated = self._zim.article_count
        except RuntimeError as error:
            log.info("article count of %s: %s", self.path, error)
            stated = 0
        return stated or sum(entry.redirect_path is None for entry in self.entries())

    def checksum_ok(self) -> bool:
        """Whether the whole file agrees with the checksum in it; reads all of it, which takes a while."""
        try:
            return self._zim.check()
        except RuntimeError as error:
            log.info("checksum of %s: %s", self.path, error)
            return False

    # Finding entries

    def entry(self, title_or_path: str) -> Entry:
        """The entry that a person or a link means, redirects followed.

        Takes a path or a title: with spaces or underscores, any case of the first letter, percent-encoded or with HTML
        entities; ``Title#Section`` sets the entry's `section`. EntryNotFound if there is none, ArchiveError on a
        redirect loop or damage.
        """
        other = None
        for name, section in spellings(title_or_path):
            found = self._lookup(name)
            if found is None:
                continue
            entry = self.resolve(replace(found, section=section))
            if entry.is_html:
                return entry
            other = other or entry
        if other is None:
            raise EntryNotFound(f'{self.path.name} has no entry "{title_or_path}".')
        return other

    def _lookup(self, name: str) -> Entry | None:
        zim = self._zim
        with self._reading(f'The entry "{name}"'):
            try:
                underscored = name.replace(" ", "_")
                for path in dict.fromkeys((name, underscored)):
                    if zim.has_entry_by_path(path):
                        return self._entry(zim.get_entry_by_path(path))
                spaced = name.replace("_", " ")
                if zim.has_entry_by_title(spaced):
                    return self._entry(zim.get_entry_by_title(spaced))
                if spaced in self._unlisted_titles:
                    return self.entry_by_id(self._unlisted_titles[spaced])
            except KeyError:  # the index names an entry that the archive lacks
                return None
        return None

    @cached_property
    def _unlisted_titles(self) -> Mapping[str, int]:
        """Title → id of the articles, for the few (small) archives that list none of theirs for look-up by title."""
        if not self._new_namespaces or self._zim.article_count:
            return MappingProxyType({})
        articles = (entry for entry in self.entries() if entry.redirect_path is None)
        return MappingProxyType({entry.title: entry.id for entry in reversed(list(articles))})

    def entry_by_id(self, id: int) -> Entry:
        """The entry with this number, redirects not followed."""
        with self._reading(f"Entry {id}"):
            return self._entry(self._zim._get_entry_by_id(id))

    def title_by_id(self, id: int) -> str:
        """The title of the entry with this number (4 µs)."""
        with self._reading(f"Entry {id}"):
            return self._zim._get_entry_by_id(id).title

    def _entry(self, found: ZimEntry) -> Entry:
        if found.is_redirect:
            target = found.get_redirect_entry().path
            return Entry(self, found._index, found.title, found.path, redirect_path=target)
        return Entry(self, found._index, found.title, found.path, found.get_item().mimetype)

    def follow(self, entry: Entry) -> Entry:
        """The item at the end of a chain of redirect entries. ArchiveError if it runs in a circle or leads nowhere."""
        seen = set()
        while entry.redirect_path is not None:
            seen.add(entry.path)
            if entry.redirect_path in seen:
                raise ArchiveError(f'The redirect "{entry.title}" of {self.path.name} leads back to itself.')
            entry = self._target(entry, entry.redirect_path, entry.section)
        return entry

    def resolve(self, entry: Entry) -> Entry:
        """As `follow`, and on through pages that only refresh to another one, mwoffliner's redirects to a section."""
        seen = set()
        while True:
            entry = self.follow(entry)
            if entry.path in seen:
                raise ArchiveError(f'The redirect "{entry.title}" of {self.path.name} leads back to itself.')
            seen.add(entry.path)
            stub = self._refresh_stub(entry)
            if stub is None:
                return entry
            path, section = stub
            entry = self._target(entry, path, section or entry.section)

    def _target(self, entry: Entry, path: str, section: str) -> Entry:
        target = self._lookup(path)
        if target is None:
            raise ArchiveError(f'The redirect "{entry.title}" of {self.path.name} leads to "{path}", which is missing.')
        return replace(target, section=section)

    def _refresh_stub(self, entry: Entry) -> tuple[str, str] | None:
        """Path and section that a page refreshes to, where it is no more than that."""
        if not entry.is_html or self._size(entry) > MAX_STUB_BYTES:
            return None
        sent = sends_to(entry.content.decode("utf-8", "replace"))
        if sent is None:
            return None
        link, fragment = sent
        folders = entry.path.split("/")[:-1]
        while link.startswith(("./", "../")):
            step, _, link = link.partition("/")
            folders = folders[:-1] if step == ".." else folders
        paths = ["/".join([*folders, each]) for each in (link, unquote(link))]
        found = next((path for path in paths if self._zim.has_entry_by_path(path)), paths[-1])
        return found, fragment

    # Listing and reading

    def entries(self) -> Iterator[Entry]:
        """The articles and the redirects to them, in path order; entries that are damaged are passed over."""
        for id in range(self._zim.entry_count if self._new_namespaces else self.entry_count):
            try:
                entry = self._entry(self._zim._get_entry_by_id(id))
                if self._is_article(entry):
                    yield entry
            except (RuntimeError, UnicodeDecodeError) as error:
                log.info("entry %d of %s cannot be read: %s", id, self.path, error)

    @cached_property
    def main_path(self) -> str | None:
        """The path of the page that the archive opens with, which names all and answers nothing; None if unknown."""
        try:
            entry = self._entry(self._zim.main_entry) if self._zim.has_main_entry else None
            return self.follow(entry).path if entry else None
        except (RuntimeError, UnicodeError, KeyError, ArchiveError) as error:
            log.info("main page of %s: %s", self.path, error)
            return None

    def _is_article(self, entry: Entry) -> bool:
        if not self._new_namespaces and not entry.path.startswith("A/"):
            return False
        if entry.redirect_path is not None:
            try:
                return self._is_article(self.follow(entry))
            except ArchiveError:
                return False
        if entry.mimetype.startswith("text/plain"):  # with a name of its own it is a text, otherwise a site's file
            return not self._new_namespaces or entry.title != entry.path
        return entry.is_html

    def content(self, id: int) -> bytes:
        """The bytes of the item with this number; ArchiveError where the file is damaged."""
        with self._reading(f"Entry {id}"):
            return bytes(self._zim._get_entry_by_id(id).get_item().content)

    def _size(self, entry: Entry) -> int:
        with self._reading(f'The entry "{entry.path}"'):
            return self._zim._get_entry_by_id(entry.id).get_item().size
