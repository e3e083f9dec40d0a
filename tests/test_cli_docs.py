"""`ratsearch docs` as an agent meets it: JSON on standard output, errors as JSON on standard error."""

import contextlib
import io
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from random import Random

import pytest

from ratsearch_lib.cli import docs
from ratsearch_lib.documents import DocumentStore

ROOT = Path(__file__).resolve().parent.parent
ID = re.compile(r"[0-9a-f]{16}")
RESULT = {"id", "path", "title", "chunk", "score", "snippet"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "notes" / "sub").mkdir(parents=True)
    (tmp_path / "notes" / "owl.md").write_text("# Owls\n\nOwls hunt at night and sleep by day.\n")
    (tmp_path / "notes" / "sub" / "fox.txt").write_text("Foxes hunt alone.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ask(here, capsys):
    """Runs a command; returns its status and what it said, one JSON object on the stream that belongs to it."""

    def run(*words, environ=None):
        status = docs.main([str(word) for word in words], environ or {})
        out, err = capsys.readouterr()
        said = json.loads(out if status == 0 else err)
        assert said["ok"] is (status == 0)
        assert (err if status == 0 else out) == ""
        return status, said

    return run


class TestCommands:
    def test_every_command(self, ask, here):
        _, said = ask("index", "notes")
        data = said["data"]
        assert (data["indexed"], data["skipped"], data["total_docs"], data["db"]) == (2, 0, 2, "rag.db")
        assert ask("index", "notes")[1]["data"]["unchanged"] == 2

        (found,) = ask("search", "sleep")[1]["data"]
        assert set(found) == RESULT
        assert ID.fullmatch(found["id"])
        assert (found["title"], found["chunk"]) == ("owl.md", 0)
        assert found["path"] == str(here / "notes" / "owl.md")
        assert found["score"] == round(found["score"], 3)
        assert "Owls hunt at night" in found["snippet"]
        assert len(ask("search", "hunt", "--top", "1")[1]["data"]) == 1
        assert ask("search", "zebra")[1]["data"] == []

        chunk = ask("get", found["id"])[1]["data"]
        assert chunk["content"] == "# Owls\n\nOwls hunt at night and sleep by day."
        listed = ask("list")[1]["data"]
        assert listed["count"] == 2
        assert set(listed["documents"][0]) == {"id", "path", "title", "chunk", "words"}
        stats = ask("stats")[1]["data"]
        # owl hunt at night and sleep by day | fox alone
        assert stats == {"total_chunks": 2, "unique_files": 2, "unique_terms": 10, "avg_chunk_len": 6.0,
                         "chunk_size_cfg": 300, "db": "rag.db"}  # fmt: skip
        assert ask("verify")[1]["data"] == {"faults": []}

        assert ask("export", "all.jsonl")[1]["data"]["chunks"] == 2
        assert ask("import", "all.jsonl", "--db", "other.db")[1]["data"]["files"] == 2
        assert ask("search", "sleep", "--db", "other.db")[1]["data"][0]["id"] == found["id"]
        assert ask("delete", "notes/sub")[1]["data"] == {"deleted": 1, "total_docs": 1}
        assert ask("delete", found["id"])[1]["data"]["total_docs"] == 0

    def test_the_store_is_named(self, ask, here):
        ask("index", "notes", environ={"RAG_DB": "x.db.json"})
        assert (here / "x.db.json").exists()
        assert not (here / "rag.db").exists()
        assert ask("--db", "x.db.json", "stats")[1]["data"]["unique_files"] == 2

    def test_chunk_size(self, ask):
        assert ask("index", "notes", "--chunk-size", "5")[1]["data"]["total_docs"] > 2
        assert ask("stats")[1]["data"]["chunk_size_cfg"] == 5

    def test_skipped_files_come_with_reasons(self, ask, here):
        (here / "notes" / "p.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
        (skipped,) = ask("index", "notes")[1]["data"]["skipped_files"]
        assert skipped == {"path": str(here / "notes" / "p.png"), "reason": "not text but a picture"}


@pytest.mark.parametrize(
    "words",
    [
        "", "nonsense", "search", "search ''", "search x --top 0", "search x --top -1", "search x --top many",
        "search x --top 99999999999999999999", "index", "index missing", "index notes missing", "get", "get zzz",
        "get 0123456789abcdef", "delete nothing", "index notes --chunk-size 0", "index notes --chunk-size Ⱥ",
        "--db '' stats", "search x --db notes", "import missing.jsonl", "import notes/owl.md", "export no/such/file",
        "search x --nonsense", "index ''", "delete ''",
    ],
)  # fmt: skip
def test_every_error_is_json_and_status_1(ask, words):
    ask("index", "notes/owl.md")
    status, said = ask(*shlex.split(words))
    assert status == 1
    assert set(said) == {"ok", "message"}
    assert len(said["message"]) > 15
    assert len(ask("list")[1]["data"]["documents"]) == 1, "nothing changed"


@pytest.mark.parametrize("command", ["search x", "get 0123456789abcdef", "list", "stats", "verify", "delete x"])
def test_without_a_store(ask, here, command):
    status, said = ask(*command.split())
    assert status == 1
    assert "ratsearch docs index" in said["message"]
    assert not (here / "rag.db").exists()


def test_interactive(here, monkeypatch, capsys):
    """Neither an error nor a blank line ends it; a line may be long; quoting is a shell's."""
    lines = ["index notes", "", "   ", "nonsense", "search 'hunt alone' --top 1", 'search "', "get zzz", "interactive",
             "--db x stats", "search " + "fox " * 20_000, "stats", "exit", "stats"]  # fmt: skip
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
    assert docs.main(["interactive"], {}) == 0
    out, err = capsys.readouterr()
    answers = [json.loads(line) for line in out.splitlines()]
    assert len(answers) == 4
    assert answers[1]["data"][0]["title"] == answers[2]["data"][0]["title"] == "fox.txt"
    assert answers[3]["data"]["total_chunks"] == 2
    assert [json.loads(line)["ok"] for line in err.splitlines()] == [False] * 5


def ragstore_index(path: Path, folder: Path) -> bytes:
    """An index as that program writes it: fields as in its own files."""
    documents = [
        {"id": f"{n:016x}", "path": str(folder / name), "title": name, "chunk": chunk, "content": text, "words": 3}
        for n, (name, chunk, text) in enumerate(
            [("a.txt", 0, "Owls hunt mice."), ("a.txt", 1, "Foxes eat grapes."), ("b.txt", 0, "Hens lay eggs.")]
        )
    ]
    path.write_text(json.dumps({"documents": documents, "doc_freq": {"owl": 1}, "avg_len": 3, "chunk_size": 120}))
    return path.read_bytes()


@pytest.mark.parametrize("named", [True, False])
def test_an_index_of_ragstore_is_converted_beside_it(ask, here, named):
    name = "old.json" if named else "rag.db.json"
    before = ragstore_index(here / name, here / "gone")
    words = ["--db", name] if named else []
    status, said = ask(*words, "search", "foxes")
    assert status == 0
    assert "made now with 3 chunks" in said["message"]
    assert said["data"][0]["title"] == "a.txt"
    assert said["data"][0]["chunk"] == 1
    assert (here / name).read_bytes() == before
    assert ask(*words, "stats")[1]["data"]["chunk_size_cfg"] == 120
    assert sorted(path.name for path in here.iterdir()) == sorted(["notes", name, Path(name).stem])


def test_a_damaged_index_of_ragstore_is_an_error(ask, here):
    whole = ragstore_index(here / "old.json", here)
    (here / "old.json").write_bytes(whole[:-40])
    assert "may be damaged" in ask("--db", "old.json", "search", "foxes")[1]["message"]


def test_import_is_whole_or_nothing(ask, here):
    ask("index", "notes")
    ask("export", "all.jsonl")
    whole = (here / "all.jsonl").read_text()
    (here / "all.jsonl").write_text(whole + '{"path": "x"}\n')
    status, said = ask("import", "all.jsonl", "--db", "new.db")
    assert status == 1
    assert "Line 3 of all.jsonl" in said["message"]
    assert ask("list", "--db", "new.db")[1]["data"]["count"] == 0


@pytest.mark.parametrize(
    "wrong", ['"path": "\\ud800"', '"path": "x", "encoding": "\\ud800"', '"path": "x", "size": 9223372036854775808']
)
def test_import_of_what_the_store_cannot_hold(ask, here, wrong):
    (here / "all.jsonl").write_text("{" + wrong + ', "chunks": []}')
    status, said = ask("import", "all.jsonl")
    assert (status, said["message"][:19]) == (1, "Line 1 of all.jsonl")


def test_export_spares_stores_links_and_what_is_no_file(ask, here):
    ask("index", "notes")
    (here / "link.jsonl").symlink_to("target.jsonl")
    os.mkfifo(here / "pipe")
    assert "would destroy" in ask("export", "rag.db")[1]["message"]
    assert "no ordinary file" in ask("export", "pipe")[1]["message"]
    assert ask("export", "link.jsonl")[0] == 0
    assert len((here / "target.jsonl").read_text().splitlines()) == 2
    assert (here / "link.jsonl").is_symlink()
    assert (here / "pipe").is_fifo()
    assert ask("stats")[1]["data"]["unique_files"] == 2


def test_nothing_in_the_output_drives_a_terminal(ask, here, capsys):
    (here / "notes" / "evil.txt").write_text("hunt \x1b]0;x\x07 \x9b31m \u2028 end")
    docs.main(["index", "notes"], {})
    docs.main(["search", "hunt"], {})
    out = capsys.readouterr().out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028]", out)


class TestSkillPage:
    def test_its_examples(self, ask, here):
        """Each indented line of SKILL.md that begins with the command is run, its placeholders filled in."""
        (here / "notes" / "old.md").write_text("Vacation days carry over to March. Annual leave is 30 days.")
        page = (ROOT / "SKILL.md").read_text(encoding="utf-8")
        commands = re.findall(r"^ {4,}ratsearch docs (.*)$", page, re.M)
        assert len(commands) >= 9
        ask("index", "notes")
        id_ = ask("search", "vacation")[1]["data"][0]["id"]
        for command in commands:
            words = [word.replace("FOLDER", "notes").replace("ID", id_) for word in shlex.split(command)]
            status, said = ask(*words)
            assert status == 0, command
            if words[0] == "search":
                assert said["data"][0]["title"] == "old.md"

    def test_it_names_the_fields_that_there_are(self, ask):
        page = (ROOT / "SKILL.md").read_text(encoding="utf-8")
        named = [set(re.findall(r'"(\w+)"', group)) for group in re.findall(r"`\{([^`]*)\}`", page)]
        index = ask("index", "notes")[1]["data"]
        assert set(index) in named
        assert RESULT in named
        assert set(ask("stats")[1]["data"]) in named


# ------------------------------------------------------------------------------------- what goes wrong around it

# Starts quickly, then indexes again and again when told to, each time in a child that can be killed.
_INDEXER = """
import os, sys
from ratsearch_lib.documents import DocumentStore, writer
writer.BATCH_S = 0.0
import ratsearch_lib.documents.prepare, ratsearch_lib.documents.extract
for line in sys.stdin:
    child = os.fork()
    if not child:
        DocumentStore(sys.argv[1]).index(sys.argv[2])
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no signals there")
def test_killed_at_any_moment_it_holds_whole_files_and_goes_on(tmp_path):
    draw = Random(11)
    folder, path = tmp_path / "docs", tmp_path / "rag.db"
    folder.mkdir()
    parts = 5
    for number in range(30):
        text = "\n\n".join(f"Part {part} of file {number} " + "word " * 250 for part in range(parts))
        (folder / f"{number}.txt").write_text(text)
    with subprocess.Popen([sys.executable, "-c", _INDEXER, path, folder], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, cwd=ROOT) as indexer:  # fmt: skip

        def start() -> int:
            indexer.stdin.write("\n")
            indexer.stdin.flush()
            return int(indexer.stdout.readline())

        def end() -> int:
            return int(indexer.stdout.readline())

        killed, longest = 0, 0.05
        for _ in range(50):
            child = start()
            threading.Event().wait(draw.uniform(0, longest))
            with contextlib.suppress(ProcessLookupError):  # it is done
                os.kill(child, signal.SIGKILL)
            if end():
                killed += 1
                longest = min(longest * 1.3, 1.0)
            else:  # done before: once more from the beginning
                for file in tmp_path.glob("rag.db*"):
                    file.unlink()
                longest *= 0.7
            with DocumentStore(path) as store:
                held: dict[str, int] = {}
                for chunk in store.list():
                    held[chunk.path] = held.get(chunk.path, 0) + 1
                assert set(held.values()) <= {parts}
                assert len(store.search("word", k=500)) == parts * len(held)
        assert killed >= 25
        start()
        assert end() == 0
    with DocumentStore(path) as store:
        assert len(store.files()) == 30
        assert store.verify() == []


def test_two_writers(here, ask):
    """The second waits; what both wrote is there. One that waits in vain says who holds the lock."""
    command = [sys.executable, "-m", "ratsearch_lib", "docs", "--db", here / "rag.db", "index"]
    both = [subprocess.Popen([*command, here / "notes" / name], stdout=subprocess.DEVNULL, cwd=ROOT)
            for name in ("owl.md", "sub")]  # fmt: skip
    assert [process.wait() for process in both] == [0, 0]
    assert ask("list")[1]["data"]["count"] == 2
    from ratsearch_lib.documents.lock import writing
    from ratsearch_lib.errors import DocumentStoreError

    with writing(here / "rag.db", 0), DocumentStore(here / "rag.db", wait_s=0.1) as second:
        with pytest.raises(DocumentStoreError, match=f"process {os.getpid()} on"):
            second.index(here / "notes")
        assert len(second.search("hunt")) == 2, "others read meanwhile"


def test_read_only(here, ask):
    """Reading wants no right to write; writing says that it does. (Root may write anywhere: it reads a copy.)"""
    ask("index", "notes")
    (here / "rag.db.lock").unlink()
    for path, mode in ((here / "rag.db", 0o444), (here, 0o555)):
        path.chmod(mode)
    try:
        assert ask("search", "hunt")[0] == 0
        if os.geteuid():
            status, said = ask("index", "notes")
            assert status == 1
            assert "--db" in said["message"]
    finally:
        here.chmod(0o755)
        (here / "rag.db").chmod(0o644)


def test_a_full_disk(here, ask, monkeypatch):
    """SQLite is held to as many pages as the store has: the error that it raises then is that of a full disk."""
    ask("index", "notes")
    before = ask("list")[1]["data"]
    from ratsearch_lib.documents import database

    opened = database.open_to_write

    def full(path) -> sqlite3.Connection:
        connection = opened(path)
        connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(database, "open_to_write", full)
        for number in range(20):
            (here / "notes" / f"{number}.txt").write_text(" ".join(str(number * 1000 + n) for n in range(2000)))
        status, said = ask("index", "notes")
        assert status == 1
        assert "disk is full" in said["message"]
    assert ask("list")[1]["data"] == before
    assert ask("verify")[0] == 0
    assert ask("index", "notes")[1]["data"]["indexed"] == 20


def test_output_that_cannot_be_written(here, ask):
    ask("index", "notes")
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "ratsearch_lib", "docs", "--db", here / "rag.db", "list"],
                              stdout=full, stderr=subprocess.PIPE, cwd=ROOT)  # fmt: skip
    assert done.returncode == 1
    assert json.loads(done.stderr)["ok"] is False
