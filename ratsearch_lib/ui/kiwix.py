"""The owner's downloads from the Kiwix library, in the sidebar: search, choose, download, stop."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..cli.zim import size
from ..errors import RatsearchError
from ..kiwix import Catalogue, CatalogueEntry, download
from .about import verdict_html

if TYPE_CHECKING:
    import gradio as gr

    from .serving import Owner

SHOWN = 30
LOOK_EVERY_S = 0.5
ONLY_OWNER = "Only the owner may download archives."


@dataclass(frozen=True, slots=True)
class Downloads:
    """Its components; `found` is a choice of archives by name."""

    words: "gr.Textbox"
    language: "gr.Textbox"
    search: "gr.Button"
    found: "gr.Dropdown"
    get: "gr.Button"
    stop: "gr.Button"
    said: "gr.HTML"


def build() -> Downloads:
    import gradio as gr

    with gr.Accordion("Download one", open=False):
        words = gr.Textbox(label="Search the Kiwix library", placeholder="wikipedia", max_length=200)
        language = gr.Textbox(label="Language", placeholder="en", max_length=20)
        search = gr.Button("Search", size="sm")
        found = gr.Dropdown([], label="Archive", info="with its date and size")
        get = gr.Button("Download", size="sm")
        stop = gr.Button("Stop", size="sm", visible=False)
        said = gr.HTML(elem_id="downloaded", padding=False)
    return Downloads(words, language, search, found, get, stop, said)


def wire(
    parts: Downloads, owner: "Owner", token: "gr.Textbox", path: "gr.Textbox", catalogue: Catalogue, folder: Path
) -> None:
    """Let the components work; where an archive was downloaded to is put into `path`, for it to be added."""
    import gradio as gr  # it reads the handlers' annotations, so they are not postponed

    job = _Job(catalogue, folder)

    def check(token: str, request: gr.Request) -> None:
        if not owner.is_asking(request.client.host, request.headers, token or ""):
            raise RatsearchError(ONLY_OWNER)

    async def search(words, language, token, request: gr.Request):
        try:
            check(token, request)
            found = await asyncio.to_thread(catalogue.search, words.strip(), language=language.strip(), limit=SHOWN)
        except RatsearchError as error:
            return gr.skip(), verdict_html(str(error))
        choices = [(choice(entry), entry.file_name) for entry in found]
        said = f"{len(choices)} found." if choices else "Nothing like that: try fewer words."
        return gr.Dropdown(choices, value=choices[0][1] if choices else None), verdict_html(said)

    async def get(name, token, request: gr.Request):
        try:
            check(token, request)
            if not name:
                raise RatsearchError("Search for an archive first, and choose one.")
            async for said in job.run(name):
                yield gr.Button(visible=True), verdict_html(said), gr.skip()
        except RatsearchError as error:
            yield gr.Button(visible=False), verdict_html(str(error)), gr.skip()
            return
        if job.path is None:
            yield gr.Button(visible=False), verdict_html("Stopped; what came in is kept."), gr.skip()
        else:
            yield gr.Button(visible=False), verdict_html(f"{job.path.name} is here: add it."), str(job.path)

    def stop(token, request: gr.Request):
        try:
            check(token, request)
        except RatsearchError:
            return
        job.stop()

    quiet = {"api_visibility": "private", "show_progress": "hidden"}
    parts.search.click(search, [parts.words, parts.language, token], [parts.found, parts.said], **quiet)
    parts.words.submit(search, [parts.words, parts.language, token], [parts.found, parts.said], **quiet)
    parts.get.click(get, [parts.found, token], [parts.stop, parts.said, path], concurrency_limit=1, **quiet)
    parts.stop.click(stop, token, None, queue=False, **quiet)


def choice(entry: CatalogueEntry) -> str:
    """An archive in a line."""
    return f"{entry.title} · {entry.name} · {entry.date} · {size(entry.size_bytes)}"


class _Stopped(Exception):
    """Raised where a download reports, once it is to end."""


class _Job:
    """The one download that runs, in a thread of its own."""

    def __init__(self, catalogue: Catalogue, folder: Path):
        self._catalogue, self._folder = catalogue, folder
        self._running = threading.Lock()
        self._stopped = threading.Event()
        self._done = (0, None)
        self.path: Path | None = None

    def stop(self) -> None:
        self._stopped.set()

    async def run(self, name: str) -> AsyncIterator[str]:
        """Says how far it is. `path` is where the archive is at the end, None if it was stopped."""
        if not self._running.acquire(blocking=False):
            raise RatsearchError("Another download is running: wait for it, or stop it.")
        try:
            self.path, self._done = None, (0, None)
            self._stopped.clear()
            working = asyncio.ensure_future(asyncio.to_thread(self._download, name, self._progress))
            try:
                while not working.done():
                    done, total = self._done
                    yield f"{size(done)} of {size(total)}" if total and done else "Asking the library…"
                    await asyncio.wait([working], timeout=LOOK_EVERY_S)
                self.path = working.result()
            except _Stopped:
                return
            finally:  # also where the page was closed
                self._stopped.set()
                await asyncio.wait([working])
        finally:
            self._running.release()

    def _progress(self, done: int, total: int | None) -> None:
        self._done = (done, total)
        if self._stopped.is_set():
            raise _Stopped

    def _download(self, name: str, progress: Callable[[int, int | None], None]) -> Path:
        return download(self._catalogue.find(name), self._folder, progress=progress)
