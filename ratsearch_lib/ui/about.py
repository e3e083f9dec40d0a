"""What the page says about the archive and the model, and what may be asked of them."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ..cache import cache_folder
from ..errors import ArchiveError
from ..view import LOGO
from .messages import as_typed

if TYPE_CHECKING:
    from ..archive import Archive
    from ..library import Library

SAMPLED_ENTRIES = 200  # of an archive, to find titles to ask about


def header_html(*lines: str) -> str:
    shown = "<br>".join(html.escape(line) for line in lines if line)
    return f"<h1>ratsearch <code>{html.escape(LOGO)}</code></h1><p>{shown}</p>"


def index_line(library: Library) -> str:
    """How far the title index is, or why there will be none; "" when it is complete."""
    progress = library.index_progress
    if progress is None:
        return library.index_error
    done, total = progress
    share = f"{100 * done // total} %" if total else f"{done:,} titles"
    return f"title index: {share} (until it is complete, fewer misspelt titles are found)"


def archive_html(library: Library) -> str:
    """What the sidebar says of the archives."""
    index = index_line(library).removeprefix("title index: ") or "complete"
    return "".join(_facts_html(archive, index) for archive in library.archives)


def _facts_html(archive: Archive, index: str) -> str:
    facts = {
        "Name": archive.name,
        "File": archive.path.name,
        "Date": archive.metadata.get("Date", "").strip(),
        "Language": archive.language,
        "Articles": f"{archive.article_count:,}",
        "Title index": index,
    }
    rows = (f"<dt>{name}</dt><dd>{html.escape(fact)}</dd>" for name, fact in facts.items() if fact)
    return f"<dl>{''.join(rows)}</dl>"


def meter_html(used: int, window: int) -> str:
    """How full the context window is."""
    said = f"{used:,} of {window:,} tokens"
    return f'<label>Context <meter max="{window}" high="{window * 3 // 4}" value="{used}"></meter> {said}</label>'


def verdict_html(text: str) -> str:
    return f'<p role="status">{html.escape(text)}</p>'


def welcome(library: Library) -> str:
    names = ", ".join(as_typed(archive.name) for archive in library.archives)
    size = f"{sum(archive.article_count for archive in library.archives):,} articles, on this machine."
    return f"# `{LOGO}`\n### {names}\n{size} Ask it something."


def questions_for(library: Library, n: int = 4) -> list[str]:
    """Questions that this archive can answer: the sample's own, or about articles from all over it."""
    from .. import sample

    archive = library.archive
    if archive.path.parent == cache_folder("sample"):
        return sample.questions()
    titles = {}
    step = max(1, archive.entry_count // SAMPLED_ENTRIES)
    for id in range(step // 2, archive.entry_count, step):
        try:
            entry = archive.entry_by_id(id)
        except ArchiveError:
            continue
        if entry.is_html and 3 < len(entry.title) < 32 and "/" not in entry.title:
            titles[" ".join(entry.title.split())] = None
    spread = list(titles)[:: max(1, len(titles) // n)][:n]
    return [f"What is there to know about {title}?" for title in spread]
