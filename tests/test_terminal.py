"""The chat as a person has it: in a pipe, to the letter, and at a terminal."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from ratsearch_lib.cli.layout import BOLD, DIM_ITALIC, RESET
from ratsearch_lib.sample import archive_path

from .conformance.server import (
    HOLD,
    ScriptedServer,
    call,
    error_reply,
    finish,
    llamacpp_props,
    progress,
    reasoning,
    say,
    sse,
    text,
    tool_call,
    usage,
)

ROOT = Path(__file__).resolve().parent.parent
USER = "  <><><> USER <><><>"
AGENT = "  ===== AGENT ====="
TOOLS = {"GET /props": llamacpp_props(tools=True)}


def chat_command(server: ScriptedServer) -> list[str]:
    command = [sys.executable, "-m", "ratsearch_lib", "--endpoint", f"127.0.0.1:{server.port}"]
    return [*command, "--zim", str(archive_path())]


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "OPENAI_API_KEY")}
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm", **more}


def chat_in_a_pipe(server: ScriptedServer, *lines: str) -> str:
    done = subprocess.run(
        chat_command(server), input="".join(f"{line}\n" for line in lines), capture_output=True, encoding="utf-8",
        env=environment(), timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


class TestPipe:
    def test_transcript_to_the_letter(self):
        steps = [
            sse(
                reasoning("The person asks "),
                reasoning("about mammals."),
                text("Let me read."),
                tool_call("read_article", {"title": "Largest mammal in North America"}),
                finish("tool_calls"),
                usage(10, 5),
            ),
            say("It is the **American bison**."),
            say("You are welcome."),
        ]
        with ScriptedServer(steps, routes=TOOLS) as server:
            shown = chat_in_a_pipe(server, "What's the largest mammal in North America?", "", "Thanks!")
            result = server.requests[1].json["messages"][-1]["content"]
        assert result.startswith("Article not found. Related articles:\n")
        *preview, tenth = result.splitlines()[:10]
        assert shown.splitlines() == [
            "ratsearch <-3,,~~",
            f"{archive_path().name} (given with --zim)",
            f"scripted at http://127.0.0.1:{server.port}/v1",
            "----------------------",
            USER,
            "What's the largest mammal in North America?",
            AGENT,
            "----- Reasoning -----",
            "The person asks about mammals.",
            "---------------------",
            "Let me read.",
            "[tool call]: read_article | Largest mammal in North America",
            *preview,
            f"{tenth} …",
            AGENT,
            "It is the **American bison**.",
            "",
            USER,
            "Thanks!",
            AGENT,
            "You are welcome.",
            "",
            USER,
            "",
        ]

    def test_nothing_but_text(self):
        hostile = "\x1b]0;owned\x07\x1b[2J\x9b5n"
        steps = [
            sse(reasoning(hostile), tool_call("read_article", {"title": f"Rat{hostile}"}), finish("tool_calls")),
            sse(text(hostile), finish()),
        ]
        with ScriptedServer(steps, routes=TOOLS) as server:
            shown = chat_in_a_pipe(server, f"Hello {hostile}")
        assert not re.findall(r"[^\S \n]|[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)
        assert shown.count("␛]0;owned␇␛[2J\ufffd5n") >= 4  # question, reasoning, call, answer

    def test_first_ten_lines_of_a_result(self):
        with ScriptedServer([call("read_article", {"title": "Brown rat"}), say("So it is.")], routes=TOOLS) as server:
            shown = chat_in_a_pipe(server, "What is a brown rat?").split("\n")
        start = shown.index("[tool call]: read_article | Brown rat") + 1
        result = shown[start : shown.index(AGENT, start)]
        assert result[0] == "Article: Brown rat"
        assert len(result) == 10
        assert result[-1].endswith("…")
        assert max(map(len, result)) <= 82

    def test_failure_is_one_sentence_and_the_chat_goes_on(self):
        with ScriptedServer([error_reply(500, "out of cheese"), say("Better now.")], routes=TOOLS) as server:
            shown = chat_in_a_pipe(server, "First?", "Second?").splitlines()
            asked = [message["content"] for message in server.requests[1].json["messages"][1:]]
        failure = shown[shown.index(AGENT) + 1]
        assert "out of cheese" in failure
        assert f"127.0.0.1:{server.port}" in failure
        assert "Better now." in shown
        assert asked == ["Second?"]  # a question without an answer is not kept

    def test_what_was_read_before_a_failure_is_kept(self):
        steps = [call("read_article", {"title": "Brown rat"}), error_reply(500, "out of cheese"), say("Better now.")]
        with ScriptedServer(steps, routes=TOOLS) as server:
            chat_in_a_pipe(server, "First?", "Second?")
            history = server.requests[2].json["messages"][1:]
        assert [message["role"] for message in history] == ["user", "assistant", "tool", "assistant", "user"]
        assert history[2]["content"].startswith("Article: Brown rat")


class Terminal:
    """The chat in a pseudo-terminal of 80 columns. `screen` is all that was written so far."""

    def __init__(self, server: ScriptedServer, **env: str):
        pexpect = pytest.importorskip("pexpect")
        self.log = StringIO()
        command, *arguments = chat_command(server)
        self.child = pexpect.spawn(
            command, arguments, env=environment(**env), encoding="utf-8", dimensions=(40, 80), timeout=30
        )
        self.eof, self.timeout = pexpect.EOF, pexpect.TIMEOUT
        self.child.logfile_read = self.log
        self.child.delaybeforesend = None

    def __enter__(self) -> "Terminal":
        self.until("-" * 22)
        self.until(USER)
        return self

    def __exit__(self, *_: object) -> None:
        self.child.close(force=True)

    def until(self, literal: str) -> None:
        self.child.expect_exact(literal)

    def ask(self, question: str) -> None:
        self.child.sendline(question)
        self.until(AGENT)

    def leave(self) -> int:
        """The exit status after Ctrl-D."""
        self.press(self.child.sendeof, self.eof)
        return self.end()

    def press(self, key: Callable[[], object], expected: object) -> None:
        """Press a key until it is seen: while readline starts, it may be lost."""
        for _ in range(10):
            key()
            if self.child.expect([expected, self.timeout], timeout=3) == 0:
                return
        pytest.fail(f"the key is not seen:\n{self.screen}")

    def end(self) -> int:
        self.child.wait()
        return self.child.exitstatus

    @property
    def screen(self) -> str:
        return self.log.getvalue()


def without_readline(screen: str) -> str:
    """What the terminal was sent, less readline's switching of bracketed paste."""
    return re.sub(r"\x1b\[\?2004[hl]\r?", "", screen)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX pseudo-terminal")
class TestTerminal:
    def test_rat_runs_and_is_gone(self):
        waiting = sse(progress(2210, 4000), HOLD, text("The **American bison**."), finish(), usage(10, 5))
        with ScriptedServer([waiting], routes=TOOLS) as server, Terminal(server) as terminal:
            terminal.ask("Which?")
            for frame in ("  ~~=8>  2210 Reading...", "<8=~~    2210 Reading..."):
                terminal.until(frame)
            server.release()
            terminal.until(f"\r{' ' * len('<8=~~    2210 Reading...')}\rThe {BOLD}American")
            terminal.until(USER)
            assert terminal.leave() == 0

    def test_thinking_counts_what_is_generated(self):
        steps = [sse(tool_call("read_article", {"title": "Brown rat"}), HOLD, finish("tool_calls")), say("Yes.")]
        with ScriptedServer(steps, routes=TOOLS) as server, Terminal(server) as terminal:
            terminal.ask("Which?")
            terminal.child.expect(r"\d Thinking\.\.\.")
            server.release()
            terminal.until("[tool call]: read_article | Brown rat\r\n")
            terminal.until(f"{DIM_ITALIC}Article: Brown rat")
            terminal.until("Yes.")

    def test_ctrl_c_while_the_prompt_is_read(self):
        with (
            ScriptedServer([sse(progress(100, 4000), HOLD), say("Second answer.")], routes=TOOLS) as server,
            Terminal(server) as terminal,
        ):
            terminal.ask("First?")
            terminal.until("100 Reading...")
            terminal.child.sendintr()
            terminal.until("[stopped; Ctrl-C again, or Ctrl-D, leaves]")
            terminal.until(USER)
            assert server.closed.wait(10)
            terminal.ask("Second?")
            terminal.until("Second answer.")
            terminal.until(USER)
            assert terminal.leave() == 0
            assert [message["content"] for message in server.requests[1].json["messages"][1:]] == ["Second?"]

    def test_ctrl_c_keeps_the_text_that_came(self):
        with (
            ScriptedServer([sse(text("It is the "), text("bison"), HOLD), say("Yes.")], routes=TOOLS) as server,
            Terminal(server) as terminal,
        ):
            terminal.ask("First?")
            assert server.holding.wait(30)
            terminal.until("It is the")
            terminal.child.sendintr()
            terminal.until("bison")
            terminal.until(USER)
            terminal.ask("Go on.")
            terminal.until("Yes.")
            history = [(message["role"], message["content"]) for message in server.requests[1].json["messages"][1:]]
        assert history == [("user", "First?"), ("assistant", "It is the bison"), ("user", "Go on.")]

    def test_ctrl_c_twice_leaves(self):
        with ScriptedServer(routes=TOOLS) as server, Terminal(server) as terminal:
            terminal.press(terminal.child.sendintr, re.escape("[Ctrl-C again, or Ctrl-D, leaves]"))
            terminal.until(USER)
            terminal.press(terminal.child.sendintr, terminal.eof)
            assert terminal.end() == 0

    def test_earlier_lines_can_be_recalled(self):
        with ScriptedServer([say("One."), say("Two.")], routes=TOOLS) as server, Terminal(server) as terminal:
            terminal.ask("What is a rat?")
            terminal.until("One.")
            terminal.until(USER)
            terminal.ask("\x1b[A")  # arrow up
            terminal.until("Two.")
            assert server.requests[1].json["messages"][-1]["content"] == "What is a rat?"

    def test_hostile_text_does_not_drive_the_terminal(self):
        hostile = "\x1b]0;owned\x07\x1b[2J\x9b5n\x08\r"
        steps = [
            sse(reasoning(hostile), tool_call("read_article", {"title": f"Rat{hostile}"}), finish("tool_calls")),
            sse(text(hostile), text("**"), text(f"{hostile}**"), finish()),
        ]
        with ScriptedServer(steps, routes=TOOLS) as server, Terminal(server) as terminal:
            terminal.ask("Which?")
            terminal.until("owned")
            terminal.until(USER)
            assert terminal.leave() == 0
            ours = re.sub("|".join(map(re.escape, (BOLD, DIM_ITALIC, RESET))), "", without_readline(terminal.screen))
        assert not re.findall(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", ours)
        assert "␛]0;owned␇␛[2J\ufffd5n␈" in ours

    def test_no_color(self):
        assert "\r<8=~~" in self.unstyled(NO_COLOR="1")

    def test_dumb_terminal_has_no_rat(self):
        assert "8=" not in self.unstyled(TERM="dumb")

    def unstyled(self, **env: str) -> str:
        waiting = sse(progress(100, 4000), HOLD, reasoning("Hm."), text("The **bison**."), finish(), usage(10, 5))
        with ScriptedServer([waiting], routes=TOOLS) as server, Terminal(server, **env) as terminal:
            terminal.ask("Which?")
            if "TERM" not in env:
                terminal.until("<8=~~    100 Reading...")
            server.release()
            terminal.until("The **bison**.")
            terminal.until(USER)
            shown = without_readline(terminal.screen)
        assert "\x1b" not in shown
        return shown
