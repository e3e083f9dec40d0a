"""Downloads from the page's sidebar: what its handlers do, with the library of bad days."""

import asyncio
import shutil
from contextlib import aclosing

import pytest

from ratsearch_lib.errors import RatsearchError
from ratsearch_lib.kiwix import Catalogue
from ratsearch_lib.sample import archive_path
from ratsearch_lib.ui.kiwix import _Job, choice

from .conformance.server import ScriptedServer
from .kiwix_server import FILE, NAME, KiwixServer, cut
from .test_app import CHROMIUM, browser, open_sidebar, running_app, visit  # noqa: F401, browser is a fixture
from .zims import make_archive

PAYLOAD = bytes(range(256)) * 1200


@pytest.fixture
def server():
    with KiwixServer(PAYLOAD) as server:
        yield server


@pytest.fixture
def job(server, tmp_path):
    return _Job(Catalogue(server.catalogue), tmp_path)


async def test_whole(job, tmp_path):
    said = [each async for each in job.run(FILE)]
    assert said[0] == "Asking the library…"
    assert job.path == tmp_path / FILE
    assert job.path.read_bytes() == PAYLOAD


async def test_stopped_and_gone_on_with(job, server, tmp_path):
    class Stops(list):
        def pop(self, *_):
            job.stop()
            return cut(100_000, "close")

    server.first = Stops([1])
    async with aclosing(job.run(FILE)) as run:
        async for _ in run:
            pass
    assert job.path is None
    assert (tmp_path / f"{FILE}.part").exists()
    server.first = []
    async for _ in job.run(NAME):
        pass
    assert job.path.read_bytes() == PAYLOAD


async def test_one_at_a_time(job):
    async with aclosing(job.run(FILE)) as run:
        await anext(run)
        with pytest.raises(RatsearchError, match="Another download is running"):
            await anext(job.run(FILE))
    await asyncio.sleep(0)
    async for _ in job.run(FILE):  # whose page was closed is no longer in the way
        pass
    assert job.path.read_bytes() == PAYLOAD


async def test_error(job, server):
    server.meta4_status = 404
    with pytest.raises(RatsearchError, match="No checksum is published"):
        async for _ in job.run(FILE):
            pass


def test_choice(server):
    (found,) = Catalogue(server.catalogue).search()
    assert choice(found) == f"All of it · {NAME} · 2026-01 · 0.3 MB"


@pytest.mark.skipif(not CHROMIUM, reason="needs Debian's chromium")
def test_on_the_page(browser, tmp_path):  # noqa: F811
    """The owner searches, downloads and adds an archive; another visitor sees nothing of it."""
    from playwright.sync_api import expect

    mine, theirs = tmp_path / "mine.zim", tmp_path / "theirs.zim"
    shutil.copy(archive_path(), mine)
    make_archive(theirs, [("Ratatouille", "Ratatouille", "<h1>Ratatouille</h1><p>A stew.</p>")])
    with (
        KiwixServer(theirs.read_bytes()) as library,
        ScriptedServer() as server,
        running_app("--zim", str(mine), "--endpoint", server.base_url, RATSEARCH_CATALOG=library.catalogue) as url,
    ):
        with visit(browser, url, {"X-Forwarded-For": "192.0.2.1"}) as other:
            open_sidebar(other, "Archive")
            expect(other.get_by_text("Download one")).to_be_hidden()
        with visit(browser, url) as page:
            open_sidebar(page, "Archive", "Download one")
            page.get_by_label("Search the Kiwix library").fill("encyclopedia")
            page.get_by_role("button", name="Search", exact=True).click()
            expect(page.locator("#downloaded")).to_contain_text("1 found.")
            page.get_by_role("button", name="Download", exact=True).click()
            expect(page.locator("#downloaded")).to_contain_text(f"{FILE} is here: add it.")
            expect(page.get_by_label("Add an archive")).to_have_value(str(tmp_path / FILE))
            page.get_by_role("button", name="Add", exact=True).click()
            expect(page.locator("#added")).to_contain_text("is read, too")
    assert (tmp_path / FILE).read_bytes() == theirs.read_bytes()
