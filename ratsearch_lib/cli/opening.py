"""What was asked for, opened: the archives, the model and an agent that reads them.

parser = argparse.ArgumentParser()
add_options(parser)
options = choose(parser.parse_args(), os.environ)
with open_session(options, print) as session:
    session.agent.run("What is the largest mammal in North America?")
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ArchiveError, RatsearchError
from .options import Options, Report
from .progress import progress_bar
from .servers import model_line, open_client
from .shelf import open_documents

if TYPE_CHECKING:
    from ..agent.loop import Agent
    from ..agent.transcript import Transcript
    from ..chat.client import ChatClient
    from ..chat.local import LocalServer
    from ..libraries import Libraries
    from ..library import Library


@dataclass(frozen=True, slots=True)
class Session:
    """An opened library with a model to read it, and the header's two lines about them."""

    library: Library | Libraries
    client: ChatClient
    server: LocalServer | None
    agent: Agent
    archive_line: str
    model_line: str


@contextmanager
def open_session(options: Options, report: Report, *, build: str = "wait") -> Iterator[Session]:
    """Everything that a question needs, closed at the end. `build` as for `Library.open`. Raises RatsearchError."""
    with ExitStack() as stack:
        library = stack.enter_context(open_library(options, report, build=build))
        client, server = open_client(options, report)
        if server:
            stack.callback(server.close)
        transcript = None
        if options.save:
            from ..agent.transcript import Transcript

            transcript = stack.enter_context(Transcript(options.save, *library.archives))
        agent = make_agent(options, client, library, transcript)
        yield Session(
            library, client, server, agent, archive_line(options, library), model_line(options, client, server)
        )


def open_library(options: Options, report: Report, *, build: str = "wait") -> Library | Libraries:
    """The chosen archives; their title indexes are built first, with a progress bar, unless `build` says otherwise.

    Of several, those that cannot be opened are reported, and the others serve.
    """
    library = _open_archives(options, report, build)
    if options.docs:
        try:
            library.add_documents(open_documents(options.docs, report))
        except RatsearchError:
            library.close()
            raise
    return library


def _open_archives(options: Options, report: Report, build: str) -> Library | Libraries:
    for error in options.zim_errors:
        report(f"{error} The other archives are read.")
    if not options.more_zims:
        return _open_archive(options.zim, report, build)
    from ..libraries import Libraries

    opened, last = [], None
    for path in (options.zim, *options.more_zims):
        try:
            opened.append(_open_archive(path, report, build))
        except RatsearchError as error:
            report(f"{error} The other archives are read.")
            last = error
    if not opened:
        raise last
    if len(opened) == 1:
        return opened[0]
    try:
        return Libraries(opened)
    except ArchiveError:
        for library in opened:
            library.close()
        raise


def _open_archive(path: Path | None, report: Report, build: str) -> Library:
    from ..library import Library

    if path is None:
        from ..sample import archive_path

        with progress_bar("Writing the sample encyclopedia", report) as progress:
            path = archive_path(progress)
    with progress_bar(f"Indexing the titles of {path.name}, once", report, unit="entries") as progress:
        return Library.open(path, build=build, progress=progress)


def make_agent(
    options: Options, client: ChatClient, library: Library | Libraries, transcript: Transcript | None = None
) -> Agent:
    """An agent that reads `library`."""
    from ..agent.loop import Agent

    return Agent(client, library.tools, mode=options.mode, transcript=transcript)


def archive_line(options: Options, library: Library | Libraries) -> str:
    """The header's line about the archive: its file, and why that one."""
    names = " and ".join(archive.path.name for archive in library.archives)
    name = names if options.zim else "the sample encyclopedia"
    return f"{name} ({options.zim_reason})" + (f" and the documents of {options.docs}" if options.docs else "")
