"""Writing a lead index: each article's title and first paragraph, in one pass."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sized
from pathlib import Path

from ..archive import Archive, Entry
from ..article import Article
from ..errors import ArchiveError, ArticleError
from ..text import tokens
from ..titles.ordered import OrderedWriter
from ..titles.store import ArchiveTitlesWriter, StoredTitlesWriter
from ..titles.write import Progress

log = logging.getLogger(__name__)

TEXT = "text"  # the tantivy index
BUFFER_BYTES = 100_000_000  # tantivy's buffer
PROGRESS_EVERY = 500
MIN_CHARS, MAX_CHARS = 200, 2000  # of a lead: after a short first paragraph the next is read too

_LEAD_END = re.compile(rb"<p[\s>].*?(?=<h2[\s>])", re.S | re.I)


def write(source: Archive | Iterable[tuple[str, str]], folder: Path, progress: Progress | None) -> None:
    """Writes the files of an index to an empty folder. `progress` as for `LeadIndex.build`."""
    import tantivy

    if isinstance(source, Archive):
        total: int | None = source.entry_count
        leads = _archive_leads(source, ArchiveTitlesWriter(folder))
    else:
        total = len(source) if isinstance(source, Sized) else None
        leads = _pair_leads(source, StoredTitlesWriter(folder))
    fields = {"text": {"tokenizer_name": "whitespace", "index_option": "freq"}}
    with OrderedWriter(folder / TEXT, fields, buffer_bytes=BUFFER_BYTES) as writer:
        for seen, (done, title, lead) in enumerate(leads):
            if progress and seen % PROGRESS_EVERY == 0:
                progress(done, total)
            if lead is not None:
                document = tantivy.Document()
                document.add_text("text", " ".join(tokens(title) + tokens(lead[:MAX_CHARS])))
                writer.add(document)
    if progress:
        progress(total or writer.count, total or writer.count)


def _archive_leads(archive: Archive, store: ArchiveTitlesWriter) -> Iterator[tuple[int, str, str | None]]:
    """How many entries were read, the last one's title, and its lead, unless it has none of its own."""
    for entry in archive.entries():
        lead = first_paragraph(entry) if entry.redirect_path is None else None
        if lead is not None:
            store.extend([(entry.id, False)])
        yield entry.id, entry.title, lead
    store.close()


def _pair_leads(pairs: Iterable[tuple[str, str]], store: StoredTitlesWriter) -> Iterator[tuple[int, str, str]]:
    for done, (title, lead) in enumerate(pairs):
        store.extend([(title, None)])
        yield done, title, lead
    store.close()


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
