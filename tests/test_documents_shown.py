"""Documents beside an archive: what a model is shown of them, `--docs` of the command line, the page's reader."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ratsearch_lib import Library
from ratsearch_lib.documents import DocumentStore
from ratsearch_lib.errors import EntryNotFound
from ratsearch_lib.sample import archive_path
from ratsearch_lib.tools import ToolContext

from .conformance.server import ScriptedServer, call, llamacpp_props, say

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    (folder / "notes").mkdir()
    parts = [f"Part {number} of the plan. " + "plain words " * 140 for number in range(4)]
    parts[2] += " The zeppelin flies on Friday."
    (folder / "notes" / "plan.md").write_text("\n\n".join(parts))
    (folder / "notes" / "a#1.txt").write_text("A name with a number sign.")
    (folder / "other.txt").write_text("Nothing else <script>alert(1)</script>.")
    return folder


@pytest.fixture(scope="module")
def library(folder, tmp_path_factory):
    store = DocumentStore(tmp_path_factory.mktemp("store") / "rag.db")
    store.index(folder)
    with Library.open(archive_path(), build="never") as library, store:
        library.add_documents(store)
        yield library


def test_search_names_parts_that_can_be_read(library):
    first, line, *_ = library.search_documents("zeppelin Friday").split("\n")
    assert first == "Documents found. Read one by its name:"
    name = line.split(": ")[0]
    assert name == "notes/plan.md#2"
    text = library.read_article(name)
    assert text.startswith("Document: notes/plan.md#2 (with its neighbours, 1 to 3)\n")
    assert "The zeppelin flies on Friday." in text
    assert "Part 1 of" in text
    assert "Part 0 of" not in text


def test_what_was_read_is_found_again_whole(library):
    """By its source, as an article is: for summaries, and `ratsearch read --whole`."""
    found = library.article_of(library.read("plan#2").source)
    assert "The zeppelin flies on Friday." in found.lead
    assert library.article_of("documents/other.txt").lead == "Nothing else <script>alert(1)</script>."
    assert library.article_of(library.read("Bison bison").source).title == "American bison"
    with pytest.raises(EntryNotFound, match=r"no document gone\.txt any more"):
        library.article_of("documents/gone.txt")


@pytest.mark.parametrize("name", ["notes/plan.md", "./notes/plan.md", "plan.md", "plan", "PLAN", '"plan.md"'])
def test_a_title_that_names_a_file_opens_it(library, name):
    assert library.read_article(name).startswith("Document: notes/plan.md\n")


def test_names_that_look_like_something_else(library, folder):
    assert library.read_article("notes/a#1.txt").startswith("Document: notes/a#1.txt\n")
    assert library.read_article(str(folder / "other.txt")).startswith("Document: other.txt\n")
    for name in ("../other.txt", "/etc/passwd", "notes", "", "plan.md\0", "notes/plan.md#99", "notes/../other.txt"):
        assert not library.read_article(name).startswith("Document: ")


def test_articles_stay_what_they_are(library):
    assert library.read_article("American bison").startswith("Article: American bison")


def test_what_was_read_is_a_source_of_its_own(library):
    context = ToolContext("When does the zeppelin fly?")
    library.read("notes/plan.md#2", context)
    (source,) = context.sources
    assert source.source == "documents/notes/plan.md#2"


def test_the_page_shows_a_document_as_plain_text(library):
    """Not as HTML, whatever it holds."""
    from ratsearch_lib.ui.articles import ArchivePages

    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "path": "/archive/documents/other.txt", "query_string": b"",
             "headers": [], "root_path": "", "app": SimpleNamespace(auth=None)}  # fmt: skip
    asyncio.run(ArchivePages(None, lambda: library)(scope, receive, send))
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    assert sent[0]["status"] == 200
    assert headers["content-type"].startswith("text/plain")
    assert b"".join(each.get("body", b"") for each in sent) == b"Nothing else <script>alert(1)</script>."


def test_ask_with_docs(folder, tmp_path):
    """A run of the command: the model is given both tools, searches, reads, answers."""
    steps = [
        call("search_documents", {"query": "zeppelin"}),
        call("read_article", {"title": "notes/plan.md#2"}),
        say("It flies on Friday."),
    ]
    with ScriptedServer(steps, routes={"GET /props": llamacpp_props(tools=True)}) as server:
        done = subprocess.run(
            [sys.executable, "-m", "ratsearch_lib", "ask", "--docs", folder, "--zim", archive_path(), "--endpoint",
             server.base_url, "When does the zeppelin fly?"],
            capture_output=True, encoding="utf-8", cwd=ROOT,
            env={**os.environ, "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"]},
        )  # fmt: skip
        sent = [request.json for request in server.requests]
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("It flies on Friday.\n")
    assert [tool["function"]["name"] for tool in sent[0]["tools"]] == ["read_article", "search_documents"]
    results = [message["content"] for message in sent[-1]["messages"] if message["role"] == "tool"]
    assert results[0].startswith("Documents found.")
    assert "notes/plan.md#2: " in results[0]
    assert results[1].startswith("Document: notes/plan.md#2 (with")
    assert json.dumps(sent[0]["tools"][1]).count("query") == 2
