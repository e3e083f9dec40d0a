"""Downloads from the page's sidebar: what its handlers do, with the library of bad days."""

import asyncio
from contextlib import aclosing

import pytest

from ratsearch_lib.errors import RatsearchError
from ratsearch_lib.kiwix import Catalogue
from ratsearch_lib.ui.kiwix import _Job, choice

from .kiwix_server import FILE, NAME, KiwixServer, cut

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
