"""The tools over MCP: sessions of the SDK's own client, in this process, over standard streams and over HTTP."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest

from ratsearch_lib.archive import Archive
from ratsearch_lib.article.select import estimate_tokens
from ratsearch_lib.documents import DocumentStore
from ratsearch_lib.errors import ArchiveError
from ratsearch_lib.library import Library
from ratsearch_lib.mcp_server import ToolServer
from ratsearch_lib.sample import archive_path
from ratsearch_lib.titles import TitleIndex
from ratsearch_lib.titles.background import BackgroundBuild

from .zims import make_archive

mcp = pytest.importorskip("mcp", reason="needs the package mcp")
from mcp.client.client import Client  # noqa: E402
from mcp.client.stdio import StdioServerParameters  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
RATSEARCH = [sys.executable, "-m", "ratsearch_lib"]
TOKEN = "let-me-in"
MOUNTAINS = [(f"p{n}", f"Mountain {n}", f"<h1>Mountain {n}</h1><p>It is high.</p>") for n in range(30)]
MISSPELT = "Moutain of my heart"


def environment(**more):
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def opened(library):
    future = Future()
    future.set_result(library)
    return future


@pytest.fixture(scope="module")
def library():
    with Library.open(archive_path(), build="wait") as library:
        yield library


@asynccontextmanager
async def session(library, **settings):
    """Of the protocol as most clients speak it."""
    async with Client(ToolServer(opened(library), **settings).server(), mode="legacy") as client:
        yield client


async def call(client, name="read_article", **arguments):
    result = await client.call_tool(name, arguments)
    return result.content[0].text, result.is_error


async def read_and_miss(client):
    """What is shown of any transport: the list of tools, an article, a section of it, a title that there is not."""
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["read_article"]
    text, is_error = await call(client, title="Bison bison")
    assert text.startswith("Article: American bison\n")
    assert not is_error
    text, _ = await call(client, title="American bison#Names")
    assert text.startswith("Article: American bison#Names\n")
    assert "Tatanka" in text
    text, is_error = await call(client, title="mammal of africa")
    assert not is_error
    assert text.startswith("Article not found. Related articles:\n")
    text, is_error = await call(client, titel="Oxygen")
    assert is_error
    assert text == 'read_article has no parameter "titel". Call read_article with {"title": "…"}.'


class TestTools:
    @pytest.mark.parametrize("mode", ["legacy", "auto"])
    async def test_both_ages_of_the_protocol(self, library, mode):
        async with Client(ToolServer(opened(library)).server(), mode=mode) as client:
            await read_and_miss(client)

    async def test_list_is_small(self, library, tmp_path):
        """As JSON it is under 300 tokens, with documents and questions too (about 4 characters a token)."""
        async with session(library, has_documents=True, with_question=True) as client:
            tools = (await client.list_tools()).tools
        listed = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])
        assert [tool.name for tool in tools] == ["read_article", "search_documents"]
        assert len(listed) < 1000
        assert estimate_tokens(listed) < 300

    async def test_results_fit_the_budget(self, library):
        whole = library.read_article("American bison")
        async with session(library, max_tokens=200) as client:
            text, _ = await call(client, title="American bison")
        assert len(text) < len(whole)
        assert estimate_tokens(text) <= 220
        assert 'Read one with read_article("American bison#Description")' in text

    async def test_question_chooses(self, library):
        async with session(library, max_tokens=150, with_question=True) as client:
            text, _ = await call(client, title="American bison", question="What do the Lakota call the bull?")
            assert "Tatanka" in text
            text, _ = await call(client, title="American bison")
            assert "Tatanka" not in text

    @pytest.mark.parametrize(
        ("name", "arguments", "message"),
        [
            ("read_articles", {}, 'There is no tool "read_articles". There is: read_article.'),
            ("read_article", {}, '"title" is missing. Call read_article with {"title": "…"}.'),
            ("read_article", {"title": " "}, '"title" is missing. Call read_article with {"title": "…"}.'),
            ("read_article", {"title": None}, '"title" must be a text. Call read_article with {"title": "…"}.'),
            ("read_article", {"title": ["Oxygen"]}, '"title" must be a text. Call read_article with {"title": "…"}.'),
            ("read_article", {"title": True}, '"title" must be a text. Call read_article with {"title": "…"}.'),
            ("search_documents", {"query": "x"}, 'There is no tool "search_documents". There is: read_article.'),
        ],
    )
    async def test_bad_input_is_taught(self, library, name, arguments, message):
        async with session(library) as client:
            assert await call(client, name, **arguments) == (message, True)

    async def test_number_is_a_title(self, tmp_path):
        archive = make_archive(tmp_path / "a.zim", [("1984", "1984", "<h1>1984</h1><p>A year of the rat.</p>")])
        with Library.open(archive.path, build="wait") as library:
            async with session(library) as client:
                assert (await call(client, title=1984))[0].startswith("Article: 1984\n")

    async def test_documents(self, tmp_path):
        (tmp_path / "plan.md").write_text("The cheese is kept behind the third brick.", "utf-8")
        store = DocumentStore(tmp_path / "store.db")
        store.index(tmp_path / "plan.md")
        with Library.open(archive_path(), build="wait") as library:
            library.add_documents(store)
            async with session(library, has_documents=True) as client:
                text, is_error = await call(client, "search_documents", query="cheese")
                assert "plan.md#0" in text
                assert not is_error
                assert "third brick" in (await call(client, title="plan.md"))[0]

    async def test_library_that_cannot_be_opened(self):
        failed = Future()
        failed.set_exception(ArchiveError("wikipedia.zim is damaged: download it again."))
        async with Client(ToolServer(failed).server()) as client:
            assert await call(client, title="Oxygen") == ("Error: wikipedia.zim is damaged: download it again.", True)
            assert (await client.list_resources()).resources == []

    async def test_library_that_is_still_opening(self, library):
        opening, heard = Future(), []

        async def progress(done, total, message):
            heard.append(message)
            if not opening.done():
                opening.set_result(library)

        async with Client(ToolServer(opening).server(), mode="legacy") as client:
            result = await client.call_tool("read_article", {"title": "American bison"}, progress_callback=progress)
        assert result.content[0].text.startswith("Article: American bison\n")
        assert heard[0] == "The library is being opened"


class TestResources:
    async def test_archives_and_articles(self, library):
        async with session(library) as client:
            (archive,) = (await client.list_resources()).resources
            assert archive.uri == f"zim://{library.archive.path.name}"
            text = (await client.read_resource(archive.uri)).contents[0].text
            assert "Title: Ratsearch sample\n" in text
            path = library.archive.entry("American bison").path
            text = (await client.read_resource(f"{archive.uri}/{path}")).contents[0].text
            assert text.startswith("Article: American bison\n")

    @pytest.mark.parametrize("uri", ["zim://other.zim", "zim://", "file:///etc/passwd", "zim://other.zim/../../x"])
    async def test_others_are_refused(self, library, uri):
        async with session(library) as client:
            with pytest.raises(MCPError, match="There is no resource"):
                await client.read_resource(uri)

    async def test_article_that_is_not_there(self, library):
        async with session(library) as client:
            with pytest.raises(MCPError, match="has no entry"):
                await client.read_resource(f"zim://{library.archive.path.name}/no/such/page")


class TestIndexing:
    """While another program builds the same index, which it does under a lock."""

    @pytest.fixture
    def building(self, tmp_path):
        archive = make_archive(tmp_path / "a.zim", MOUNTAINS)
        place = tmp_path / "a.zim.ratsearch"
        place.mkdir()
        with open(place / "lock", "a+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with Library(archive, building=BackgroundBuild(archive.path)) as library:
                yield library, lock

    async def test_waits_with_progress(self, building):
        library, lock = building
        heard = []

        async def progress(done, total, message):
            heard.append(message)
            fcntl.flock(lock, fcntl.LOCK_UN)

        async with session(library) as client:
            result = await client.call_tool("read_article", {"title": MISSPELT}, progress_callback=progress)
        assert heard[0] == "The titles are being indexed, once"
        assert "\nMountain " in result.content[0].text
        assert TitleIndex.open(Archive(library.archive.path)).search("mountain 7")

    async def test_an_article_does_not_wait(self, building):
        library, _ = building
        async with session(library) as client:
            assert (await call(client, title="Mountain 7"))[0].startswith("Article: Mountain 7\n")

    async def test_who_sees_no_progress_does_not_wait(self, building):
        library, _ = building
        async with session(library) as client:
            text, _ = await call(client, title=MISSPELT)
        assert text.endswith("[The titles are still being indexed: ask again later for nearer ones.]")

    async def test_cancelled(self, building):
        library, _ = building
        async with session(library) as client:
            with anyio.CancelScope() as scope:

                async def progress(done, total, message):
                    scope.cancel()

                await client.call_tool("read_article", {"title": MISSPELT}, progress_callback=progress)
            assert scope.cancelled_caught
            assert (await call(client, title="Mountain 7"))[0].startswith("Article: Mountain 7\n")


class TestTransports:
    async def test_standard_streams(self, tmp_path):
        """A whole session; the first call comes while another program indexes the archive, and is cancelled."""
        archive = tmp_path / "sample.zim"
        shutil.copy(archive_path(), archive)
        place = tmp_path / "sample.zim.ratsearch"
        place.mkdir()
        arguments = [*RATSEARCH[1:], "mcp", "--zim", str(archive)]
        server = StdioServerParameters(command=RATSEARCH[0], args=arguments, env=environment())
        with open(place / "lock", "a+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            async with Client(server) as client:
                heard = []
                with anyio.CancelScope() as scope:

                    async def progress(done, total, message):
                        heard.append(message)
                        scope.cancel()

                    await client.call_tool("read_article", {"title": "Denali"}, progress_callback=progress)
                assert scope.cancelled_caught
                assert heard == ["The library is being opened"]
                fcntl.flock(lock, fcntl.LOCK_UN)
                await read_and_miss(client)

    def test_ends_at_a_signal(self):
        with subprocess.Popen(
            [*RATSEARCH, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
        ) as server:
            asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            server.stdin.write(json.dumps(asked).encode() + b"\n")
            server.stdin.flush()
            assert server.stdout.readline()
            server.terminate()
            assert server.wait(timeout=30) == 143

    def test_ends_with_its_input_whatever_came(self):
        garbage = b'{"jsonrpc": "2.0", "id": 1}\n[]\nnot json\n\xff\xfe\n{"jsonrpc": "2.0", "id": 2, "method": "x"}\n'
        done = subprocess.run([*RATSEARCH, "mcp"], input=garbage, capture_output=True, env=environment(), timeout=60)
        assert done.returncode == 0
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in done.stdout.splitlines())

    async def test_http_with_a_token(self):
        server = subprocess.Popen(
            [*RATSEARCH, "mcp", "--http", "--port", "0"],
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=environment(RATSEARCH_MCP_TOKEN=TOKEN),
        )
        try:
            url = re.search(r"http://127\.0\.0\.1:\d+/mcp", server.stderr.readline())[0]
            assert TOKEN not in server.stderr.readline()
            async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http:
                async with Client(streamable_http_client(url, http_client=http)) as client:
                    await read_and_miss(client)
                asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
                for host in ("evil.example", "evil.example:80"):  # a name that a web page made lead here
                    assert (await http.post(url, json=asked, headers={"Host": host})).status_code == 421
                assert (await http.post(url, json=asked, headers={"Origin": "http://evil.example"})).status_code == 403
                assert (await http.post(url, content=b"x" * 5_000_000)).status_code in (400, 413)
            async with httpx2.AsyncClient() as http:
                for wrong in ({}, {"Authorization": "Bearer x"}, {"Authorization": f"Basic {TOKEN}"}):
                    answer = await http.post(url, json=asked, headers=wrong)
                    assert answer.status_code == 401
                    assert answer.json() == {"error": "Give the token: Authorization: Bearer TOKEN."}
        finally:
            server.terminate()
            server.communicate(timeout=30)
        assert server.returncode in (0, 143)

    def test_port_that_is_taken(self):
        import socket

        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            done = subprocess.run(
                [*RATSEARCH, "mcp", "--http", "--port", port], capture_output=True, encoding="utf-8",
                env=environment(), timeout=60,
            )  # fmt: skip
        assert done.returncode == 1
        assert f"127.0.0.1:{port} cannot be served at" in done.stderr
