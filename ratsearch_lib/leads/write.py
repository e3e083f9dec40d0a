"""Writing a lead index: each article's title and first paragraph, in one pass."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..archive import Archive, Entry
from ..article import Article
from ..errors import ArchiveError, ArticleError
from ..text import tokens
from ..titles.store import ArchiveTitlesWriter, StoredTitlesWriter

if TYPE_CHECKING:
    import tantivy

log = logging.getLogger(__name__)

Progress = Callable[[int, "int | None"], None]

TEXT = "text"  # the tantivy index
WRITER_BYTES = 100_000_000  # tantivy's buffer
PROGRESS_EVERY = 500
MIN_CHARS, MAX_CHARS = 200, 2000  # of a lead: after a short first paragraph the next is read too

_LEAD_END = re.compile(rb"<p[\s>].*?(?=<h2[\s>])", re.S | re.I)


class _LeadWriter:
    def __init__(self, folder: Path):
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
        schema.add_unsigned_field("position", fast=True)
        (folder / TEXT).mkdir()
        self._document = tantivy.Document
        # one thread, so that the same articles always make the same index
        self._writer: tantivy.IndexWriter | None = tantivy.Index(schema.build(), path=str(folder / TEXT)).writer(
            WRITER_BYTES, 1
        )
        self.count = 0

    def add(self, title: str, lead: str) -> None:
        document = self._document()
        document.add_text("text", " ".join(tokens(title) + tokens(lead[:MAX_CHARS])))
        document.add_unsigned("position", self.count)
        with _as_os_errors():
            self._writer.add_document(document)
        self.count += 1

    def close(self) -> None:
        with _as_os_errors():
            self._writer.commit()
            self._writer.wait_merging_threads()

    def abandon(self) -> None:
        """Lets go of the files, which are of no more use."""
        self._writer = None


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """tantivy tells of a full disk by ValueError."""
    try:
        yield
    except ValueError as error:
        raise OSError(str(error)) from error


def write(source: Archive | Iterable[tuple[str, str]], folder: Path, progress: Progress | None) -> None:
    writer = _LeadWriter(folder)
    total: int | None
    try:
        if isinstance(source, Archive):
            total = source.entry_count
            _write_archive(source, folder, writer, progress)
        else:
            total = len(source) if isinstance(source, Sized) else None
            _write_pairs(source, total, folder, writer, progress)
        writer.close()
    except BaseException:
        writer.abandon()
        raise
    if progress:
        progress(total or writer.count, total or writer.count)


def _write_archive(archive: Archive, folder: Path, writer: _LeadWriter, progress: Progress | None) -> None:
    titles = ArchiveTitlesWriter(folder)
    for seen, entry in enumerate(archive.entries()):
        if progress and seen % PROGRESS_EVERY == 0:
            progress(entry.id, archive.entry_count)
        if entry.redirect_path is None:
            lead = first_paragraph(entry)
            if lead is not None:
                writer.add(entry.title, lead)
                titles.add(entry.id, False)
    titles.close()


def _write_pairs(
    pairs: Iterable[tuple[str, str]], total: int | None, folder: Path, writer: _LeadWriter, progress: Progress | None
) -> None:
    titles = StoredTitlesWriter(folder)
    for done, (title, lead) in enumerate(pairs):
        if progress and done % PROGRESS_EVERY == 0:
            progress(done, total)
        writer.add(title, lead)
        titles.add(title, None)
    titles.close()


def first_paragraph(entry: Entry) -> str | None:
    """What an article begins with; "" where it has no text, None for a page that only leads to another one."""
    try:
        content = entry.content
        if entry.mimetype.startswith("text/plain"):
            return _first_of(content[: 4 * MAX_CHARS].decode("utf-8", "replace"))
        # Parsing stops at the first heading after a paragraph: most pages are much longer than their lead.
        head = _LEAD_END.search(content)
        article = Article.from_html(content[: head.end()] if head else content, entry.title)
        if head and not article.lead:
            article = Article.from_html(content, entry.title)
    except (ArticleError, ArchiveError) as error:
        log.info("%s", error)
        return ""
    return None if article.redirect_to is not None else _first_of(article.lead)


def _first_of(text: str) -> str:
    """The first paragraph, and those after it as long as that is short: a caption, a line of coordinates."""
    found = ""
    for paragraph in text.split("\n\n"):
        found = f"{found}\n\n{paragraph}".strip()
        if len(found) >= MIN_CHARS:
            break
    return found
