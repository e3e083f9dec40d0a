"""The archive's own pages, images and styles for the page's reader, at ``/archive/FILE.zim/PATH``.

What an archive holds is hostile: its pages come with a policy under which no script runs and nothing loads but what the
archive has. ``/archive/?title=TITLE`` leads to the article that a title means; a document's text is at
``/archive/documents/NAME``.
"""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlencode

from ..errors import ArchiveError, EntryNotFound
from ..shelf import DOCUMENTS
from .headers import frame_policy, is_logged_in

if TYPE_CHECKING:
    from ..archive import Entry
    from ..libraries import Libraries
    from ..library import Library

PREFIX = "/archive/"
MAX_PASSAGES, MAX_PASSAGE_CHARS = 3, 160  # in an address: enough to find the paragraph again
SERVED = re.compile(r"(?:text/(?:html|css|plain)|application/xhtml\+xml|(?:image|font|audio|video)/[\w.+-]+)")
TYPE = re.compile(r"[\w.+-]+/[\w.+-]+(?: *; *charset=[\w-]+)?")


def article_link(source: str, passages: Sequence[str] = ()) -> str:
    """The address of what was read, relative to the page's; reader.js looks for the passages and scrolls to the first.

    >>> article_link("a.zim/Rat (animal)", ["A rat is a rodent."])
    'archive/a.zim/Rat%20%28animal%29?read=A+rat+is+a+rodent.'
    """
    read = [" ".join(passage[: 2 * MAX_PASSAGE_CHARS].split())[:MAX_PASSAGE_CHARS] for passage in passages]
    query = urlencode({"read": read[:MAX_PASSAGES]}, doseq=True, errors="replace")
    path = quote(source, safe="/", errors="replace")
    return PREFIX[1:] + path + (f"?{query}" if query else "")


class ArchivePages:
    """ASGI middleware that answers for `PREFIX`. `library` returns None as long as none is open."""

    def __init__(self, app, library: Callable[[], Library | None]):
        self.app, self.library = app, library

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self.app(scope, receive, send)
            return
        response = await asyncio.to_thread(self._answer, scope)
        await response(scope, receive, send)

    def _answer(self, scope):
        from starlette.responses import RedirectResponse, Response

        def moved(entry: Entry) -> Response:
            source = f"{entry.archive.path.name}/{entry.path}"
            address = f"{scope.get('root_path', '')}/{article_link(source)}"
            query = scope["query_string"].decode("latin-1")
            return RedirectResponse(address if file == "" else f"{address}?{query}".rstrip("?"))

        library, file = self.library(), ""
        if not is_logged_in(scope):
            response = _message("Log in first.", 401)
        elif scope["method"] not in ("GET", "HEAD"):
            response = _message("Articles can only be read.", 405)
        elif library is None:
            response = _message("The archive is still being opened: try again.", 503)
        else:
            try:
                file, _, path = scope["path"][len(PREFIX) :].partition("/")
                title = parse_qs(scope["query_string"].decode("latin-1")).get("title", [""])[0]
                if not file and title:
                    response = moved(_first(library, title))
                elif file == DOCUMENTS and (text := library.document(path)) is not None:
                    response = Response(text, media_type="text/plain")
                elif all(file != archive.path.name for archive in library.archives):
                    response = _message(f"The archive {file} is not open.", 404)
                else:
                    entry = library.entry_of(f"{file}/{path}")
                    if entry.is_html and entry.path != path:  # else its relative links would lead astray
                        response = moved(entry)
                    elif SERVED.match(entry.mimetype) and TYPE.fullmatch(entry.mimetype):
                        response = Response(entry.content, media_type=entry.mimetype)
                        response.headers["cache-control"] = "private, max-age=3600"
                    else:
                        response = _message("This entry is neither a text nor a picture.", 404)
            except EntryNotFound:
                response = _message(f'The archive has no "{title or path}".', 404)
            except ArchiveError as error:
                response = _message(str(error), 500)
        response.headers["content-security-policy"] = frame_policy(scope, PREFIX)
        response.headers["x-content-type-options"] = "nosniff"
        response.headers["referrer-policy"] = "no-referrer"
        return response


def _first(library: Library | Libraries, title: str) -> Entry:
    """The entry of the first archive that has the title."""
    for archive in library.archives[:-1]:
        with suppress(EntryNotFound):
            return archive.entry(title)
    return library.archives[-1].entry(title)


def _message(text: str, status: int):
    from starlette.responses import HTMLResponse

    return HTMLResponse(f"<!doctype html><title>ratsearch</title><p>{html.escape(text)}</p>", status)
