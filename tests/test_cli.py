"""`ratsearch` as a command: what goes where, and with which exit status."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ratsearch_lib import __version__
from ratsearch_lib.cli import main
from ratsearch_lib.sample import archive_path

from .conformance.server import (
    HOLD,
    ScriptedServer,
    error_reply,
    finish,
    llamacpp_props,
    models,
    progress,
    reasoning,
    say,
    sse,
    text,
    tool_call,
)

ROOT = Path(__file__).resolve().parent.parent
TOOLS = {"GET /props": llamacpp_props(tools=True)}
KEY = "sk-the-persons-own"
QUESTION = "What's the largest mammal in North America?"


def environment(**more: str) -> dict[str, str]:
    ours = ("RATSEARCH_ZIM", "OPENAI_BASE_URL", "OPENAI_API_KEY")
    return {**{name: value for name, value in os.environ.items() if name not in ours}, "PYTHONPATH": str(ROOT), **more}


def ratsearch(*arguments: str, input: str = "", timeout_s: float = 300, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "ratsearch_lib", *arguments], input=input, capture_output=True, encoding="utf-8",
        env=environment(**env), timeout=timeout_s,
    )  # fmt: skip


@pytest.fixture(scope="module")
def sample() -> str:
    return str(archive_path())


@pytest.fixture
def run(capsys):
    """The command line in this process: (exit status, standard output, standard error)."""
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        return status, *capsys.readouterr()

    yield run
    signal.signal(signal.SIGTERM, before)


class TestUsage:
    def test_version_is_quick(self):
        """It prints the version without importing what takes long."""
        code = "import sys; from ratsearch_lib.cli import main\ntry: main(['--version'])\nfinally: print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", cwd=ROOT)
        version, imported = done.stdout.splitlines()
        assert version == f"ratsearch {__version__}"
        assert not {"openai", "gradio", "libzim", "tantivy", "rich", "numpy", "asyncio"} & set(imported.split())

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["frobnicate"], "invalid choice: 'frobnicate'"),
            (["read"], "required: title"),
            (["titles", "Rat", "--limit", "0"], "at least 1"),
            (["ask", "--mode", "magic", "Why?"], "invalid choice: 'magic'"),
            (["titles", "Rat", "--limit", "abc"], "a whole number of at least 1, and not 'abc'"),
            (["ask", " "], "there is no question"),
            (["read", "--json", ""], "there is no title"),
            (["read", '" "'], "there is no title"),
            (["titles", " "], "there is no title"),
            (["--context", "9"], "at least 512 tokens"),
            (["read", "Rat", "--zim", ""], "--zim: it is empty"),
            (["--zim", " "], "--zim: it is empty"),
        ],
    )
    def test_wrong_usage(self, run, capsys, arguments, message):
        with pytest.raises(SystemExit) as leaving:
            run(*arguments)
        out, err = capsys.readouterr()
        assert (leaving.value.code, out) == (2, "")
        assert message in err

    def test_help_tells_of_json(self, run, capsys):
        for command in ("read", "titles"):
            with pytest.raises(SystemExit) as leaving:
                run(command, "--help")
            assert leaving.value.code == 0
            assert "--json prints" in capsys.readouterr().out


class TestStreams:
    """Whatever the standard streams are: no traceback, and no character lost."""

    def test_pipes_are_in_utf_8(self, sample):
        old = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}  # as on Windows: something else by default
        done = ratsearch("titles", "--zim", sample, "Emmy Nöther", "--limit", "1", **old)
        assert done.stdout == ratsearch("titles", "--zim", sample, "Emmy Nöther", "--limit", "1").stdout
        article = ratsearch("read", "--zim", sample, "Emmy Noether", **old).stdout
        assert not article.isascii()
        assert "?" * 2 not in article

    def test_closed_streams(self, sample):
        for closed in ("<&-", ">&-", "2>&-"):
            command = f'"{sys.executable}" -m ratsearch_lib titles --zim "{sample}" Rat --limit 1 {closed}'
            done = subprocess.run(command, shell=True, capture_output=True, encoding="utf-8", env=environment())
            assert (done.returncode, done.stderr) == (0, ""), closed

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
    def test_full_disk(self, sample):
        command = f'"{sys.executable}" -m ratsearch_lib read --zim "{sample}" Rat >/dev/full'
        done = subprocess.run(command, shell=True, capture_output=True, encoding="utf-8", env=environment())
        assert done.returncode == 1
        assert done.stderr == "ratsearch: the output cannot be written (No space left on device)\n"

    @pytest.mark.skipif(os.name == "nt", reason="there is no such signal to send")
    def test_ctrl_c_while_the_question_is_read(self):
        asking = subprocess.Popen(
            [sys.executable, "-m", "ratsearch_lib", "ask", "-"], env=environment(), encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        asking.stdin.write("why " * 100_000)  # more than a pipe holds: it returns when the other end reads
        asking.stdin.flush()
        asking.send_signal(signal.SIGINT)
        out, err = asking.communicate(timeout=30)
        assert (asking.returncode, out, err) == (130, "", "\n")


class TestRead:
    def test_article(self, run, sample):
        status, out, _ = run("read", "--zim", sample, "brown_rat")
        assert status == 0
        assert out.startswith("Article: Brown rat\n")

    def test_json(self, run, sample):
        status, out, _ = run("--zim", sample, "read", "Bison bison", "--json")  # an option may stand before the command
        found = json.loads(out)
        assert (status, found["found"], found["title"]) == (0, True, "American bison")
        assert found["source"].startswith(f"{Path(sample).name}/")
        assert found["text"].startswith("Article: American bison\n")

    def test_miss_lists_the_nearest_titles(self, run, sample):
        status, out, _ = run("read", "--zim", sample, "Largest mammal in North America")
        first, *titles = out.splitlines()
        assert (status, first) == (1, "Article not found. Related articles:")
        assert "Mammals of North America" in titles
        status, out, _ = run("read", "--zim", sample, "--json", "Largest mammal in North America")
        assert (status, json.loads(out)) == (1, {"found": False, "related": titles})

    def test_full_is_not_cut(self, run, sample):
        cut = run("read", "--zim", sample, LONG_ARTICLE)[1]
        full = run("read", "--zim", sample, LONG_ARTICLE, "--full")[1]
        assert len(cut) <= 65_535 + 1 < len(full)
        assert full.startswith(f"Article: {LONG_ARTICLE}\n")

    def test_full_section_is_the_section_alone(self, run, sample):
        for title in ("American bison#Behaviour", "Bison bison#Behaviour", "American bisons#Behaviour"):
            _, section, _ = run("read", "--zim", sample, title)
            _, full, _ = run("read", "--zim", sample, title, "--full")
            assert "## Description" not in full
            assert full == section  # which is far too short to be cut

    def test_needs_no_chat(self, sample):
        code = "import sys; from ratsearch_lib.cli import main; main(sys.argv[1:]); print('\\n', *sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", code, "read", "--zim", sample, "Brown rat"],
            capture_output=True, encoding="utf-8", cwd=ROOT,
        )  # fmt: skip
        assert not {"openai", "gradio", "xllamacpp", "ipywidgets"} & set(done.stdout.splitlines()[-1].split())

    def test_split_archive(self, run, data):
        status, out, _ = run(
            "read", "--zim", str(data / "zim/split/wikipedia_en_ray_charles_2015-06.zim"), "Ray Charles"
        )
        assert status == 0
        assert out.startswith("Article: Ray Charles\n")

    def test_damaged_archive(self, run, data):
        status, out, err = run("read", "--zim", str(data / "zim/wikipedia_cr_all_2015-04.corrupt.zim"), "x")
        assert (status, out) == (1, "")
        assert err.startswith("ratsearch: ")
        assert "cannot be opened as a ZIM archive" in err
        assert len(err.splitlines()) == 1

    def test_reader_that_has_seen_enough(self, sample):
        command = f'"{sys.executable}" -m ratsearch_lib read --zim "{sample}" "{LONG_ARTICLE}" --full | head -n 1'
        done = subprocess.run(command, shell=True, capture_output=True, encoding="utf-8", env=environment(), timeout=60)
        assert (done.stdout, done.stderr) == (f"Article: {LONG_ARTICLE}\n", "")


LONG_ARTICLE = "List of mammals of North America"


class TestTitles:
    def test_nearest_first(self, run, sample):
        status, out, _ = run("titles", "--zim", sample, "larges mamal", "--limit", "3")
        assert status == 0
        assert out.startswith("List of largest mammals")
        assert len(out.splitlines()) <= 3

    def test_json(self, run, sample):
        status, out, _ = run("titles", "--zim", sample, "--json", "--limit", "1", "bison bison")
        (match,) = json.loads(out)
        assert status == 0
        assert set(match) == {"title", "path", "score", "matched"}
        assert (match["title"], match["matched"].lower()) == ("American bison", "bison bison")

    def test_none(self, run, sample):
        status, out, err = run("titles", "--zim", sample, "\x1b[2J")
        assert (status, out) == (1, "")
        assert "\x1b" not in err


class TestAsk:
    def test_answer_alone_on_stdout(self, sample):
        steps = [
            sse(
                reasoning("I should look."),
                text("Let me read."),
                tool_call("read_article", {"title": "American bison"}),
                finish("tool_calls"),
            ),
            say("The **American bison**."),
        ]
        with ScriptedServer(steps * 2, routes=TOOLS) as server:
            there = ("ask", "--zim", sample, "--endpoint", server.base_url)
            quiet, verbose = ratsearch(*there, QUESTION), ratsearch(*there, "-v", "-", input=f"{QUESTION}\n")
            asked = [request.json["messages"][1]["content"] for request in server.requests]
        assert asked == [QUESTION] * 4
        assert (quiet.returncode, verbose.returncode) == (0, 0)
        assert quiet.stdout == verbose.stdout
        assert quiet.stdout.endswith("The **American bison**.\n")
        assert "Reasoning" not in quiet.stdout
        assert "[tool call]" not in quiet.stdout + quiet.stderr
        header, rest = verbose.stderr.split("-" * 22 + "\n", 1)
        assert header.splitlines() == [
            "ratsearch <-3,,~~",
            f"{Path(sample).name} (given with --zim)",
            f"scripted at {server.base_url}",
        ]
        assert rest.startswith("  ===== AGENT =====\n----- Reasoning -----\nI should look.\n---------------------\n")
        assert "[tool call]: read_article | American bison\nArticle: American bison\n" in rest
        assert "The **American bison**." not in rest
        assert "\x1b" not in quiet.stdout + quiet.stderr + verbose.stdout + verbose.stderr

    def test_request_options_and_key_go_to_the_endpoint(self, sample):
        with ScriptedServer([say("Hello.")], routes={**TOOLS, "GET /v1/models": models("one", "two")}) as server:
            done = ratsearch(
                "ask", "--zim", sample, "--model", "two", "--temperature", "0", "--seed", "7", "Hello?",
                OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY=KEY,
            )  # fmt: skip
            (request,) = server.requests
        assert done.stdout == "Hello.\n"
        assert (request.json["model"], request.json["temperature"], request.json["seed"]) == ("two", 0, 7)
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in done.stderr

    def test_failures(self, run, sample):
        with ScriptedServer([error_reply(500, "out of cheese")], routes=TOOLS) as server:
            failed = run("ask", "--zim", sample, "--endpoint", server.base_url, "Why?")
        gone = run("ask", "--zim", sample, "--endpoint", server.base_url, "Why?")
        for status, out, err in (failed, gone):
            assert (status, out) == (1, "")
            assert err.splitlines()[-1].startswith("ratsearch: ")
            assert server.base_url in err.splitlines()[-1]
        assert "out of cheese" in failed[2]
        assert len(gone[2].splitlines()) == 1

    def test_refused_key_is_not_repeated(self, run, sample, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        refusal = error_reply(401, f"Incorrect API key provided: {KEY}")
        with ScriptedServer(routes={"GET /v1/models": refusal, "GET /props": refusal}) as server:
            status, out, err = run("ask", "--zim", sample, "--endpoint", server.base_url, "Why?")
        assert (status, out) == (1, "")
        assert "OPENAI_API_KEY" in err
        assert KEY not in err

    def test_ctrl_c(self, sample):
        with ScriptedServer([sse(progress(100, 4000), HOLD)], routes=TOOLS) as server:
            command = [
                sys.executable,
                "-m",
                "ratsearch_lib",
                "ask",
                "--zim",
                sample,
                "--endpoint",
                server.base_url,
                "Why?",
            ]
            asking = subprocess.Popen(
                command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
            )
            assert server.holding.wait(60)
            asking.send_signal(signal.SIGINT)
            out, err = asking.communicate(timeout=30)
            assert server.closed.wait(10)
        assert (asking.returncode, out) == (130, "")
        assert "Traceback" not in err
