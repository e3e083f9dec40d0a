"""Transcripts: what is written while an agent runs, and the same run again without a server."""

import asyncio
import io
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from ratsearch_lib import Agent, Archive, ChatClient, ReplayClient, TextDelta, ToolResult, Transcript, subagent
from ratsearch_lib.cli.replay import replay
from ratsearch_lib.cli.screen import Screen
from ratsearch_lib.errors import BadReply, ChatError, TranscriptError
from ratsearch_lib.sample import archive_path

from .conformance.server import (
    HOLD,
    RESET,
    ScriptedServer,
    call,
    error_reply,
    finish,
    json_reply,
    llamacpp_props,
    models,
    reasoning,
    say,
    sse,
    text,
    usage,
)
from .conftest import ROOT
from .zims import make_archive

KEY = "sk-very-secret-key-1234"
QUESTION = "What is a rat?"


def read_article(title: str) -> str:
    """read a wikipedia article"""
    return f"Article: {title}\nA rodent – 鼠."


def record(path, replies, *questions, archives=(), routes=None, **options):
    """The events of runs in one conversation, which are recorded to `path`."""
    runs, messages = [], ()
    with ScriptedServer(replies, routes=routes) as server, Transcript(path, *archives) as transcript:
        client = ChatClient(server.base_url, None, KEY, temperature=0)
        agent = Agent(client, [read_article], transcript=transcript, **options)
        for question in questions:
            runs.append(list(agent.run(question, messages)))
            messages = runs[-1][-1].messages
    return runs


def timeless(events):
    return [replace(event, duration_s=0) if isinstance(event, ToolResult) else event for event in events]


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def replies():
    thought = sse(reasoning("Hm."), text("It is "), text("a 鼠."), finish(), usage(40, 9))
    return [call("read_article", {"title": "Rat"}), thought, say("Yes.")]


def test_the_same_events_without_a_server(tmp_path):
    path = tmp_path / "run.jsonl"
    first, second = record(path, replies(), QUESTION, "Really?", mode="tools")
    agent = Agent(ReplayClient(path), [read_article], mode="tools")
    for _ in range(2):  # a notebook's cell is run again
        assert timeless(agent.run(QUESTION)) == timeless(first)
        assert timeless(agent.run("Really?", first[-1].messages)) == timeless(second)
    assert second[-1].answer == "Yes."


@pytest.mark.parametrize("tools", [True, False])
def test_what_the_server_says_of_itself_is_replayed(tmp_path, tools):
    routes = {
        "GET /props": llamacpp_props(n_ctx=2048, slots=3, tools=tools),
        "POST /v1/chat/completions/input_tokens": json_reply({"input_tokens": 1700}),
    }
    history = [{"role": "user", "content": "word " * 900}, {"role": "assistant", "content": "Yes."}]
    path = tmp_path / "run.jsonl"
    with ScriptedServer([say("a rodent")] * 2, routes=routes) as server, Transcript(path) as transcript:
        agent = Agent(ChatClient(server.base_url), [read_article], transcript=transcript)
        events = list(agent.run(QUESTION, history))
    client = ReplayClient(path)
    assert client.supports_tools() is tools
    assert timeless(Agent(client, [read_article]).run(QUESTION, history)) == timeless(events)
    if tools:
        assert client.window() == 2048


def test_the_first_line_holds_what_an_experiment_needs(tmp_path):
    path, archive = tmp_path / "run.jsonl", Archive(archive_path())
    other = make_archive(tmp_path / "other.zim", [("Main", "Main", "<h1>Main</h1><p>Text.</p>")])
    record(path, [say("A rodent.")], QUESTION, archives=[archive, other], mode="tools", system_prompt="Be brief.")
    start = lines(path)[0]
    assert start["type"] == "start"
    assert start["archives"] == [{"name": each.path.name, "uuid": each.uuid} for each in (archive, other)]
    assert f"\n{archive.path.name}, other.zim\n" in shown(path).stdout
    assert (start["model"], start["request_options"]) == ("scripted", {"temperature": 0})
    assert (start["system_prompt"], start["mode"]) == ("Be brief.", "tools")
    assert start["tools"][0]["function"]["name"] == "read_article"
    assert {"ratsearch", "python", "time"} <= set(start)


def test_keys_stay_out(tmp_path):
    path = tmp_path / "run.jsonl"
    told = [say(f"Your key is {KEY}."), error_reply(401, f"bad key {KEY}")]
    with pytest.raises(ChatError):
        record(path, told, QUESTION, "And now?", mode="tools")
    written = path.read_text(encoding="utf-8")
    assert KEY not in written
    assert "bad key [key]" in written


def test_a_request_that_was_not_recorded_is_told_apart(tmp_path):
    path = tmp_path / "run.jsonl"
    record(path, replies(), QUESTION, mode="tools")
    client = ReplayClient(path)

    def refusal(**options):
        question = options.pop("question", QUESTION)
        tools = options.pop("tools", [read_article])
        with pytest.raises(TranscriptError) as caught:
            Agent(client, tools, mode="tools", **options).ask(question)
        return str(caught.value)

    assert 'message 2 is of the user, "What is a cat?", and was of the user, "What is a rat?"' in refusal(
        question="What is a cat?"
    )
    assert "message 1 is of the system" in refusal(system_prompt="Be brief.")
    assert "the tools are none, and were read_article" in refusal(tools=[])

    def other_text(title: str) -> str:
        """read a wikipedia article"""
        return "Article: another one"

    other_text.__name__ = "read_article"
    assert 'message 4 is of the tool, "Article: another one"' in refusal(tools=[other_text])


def test_failures_are_replayed(tmp_path):
    path = tmp_path / "run.jsonl"
    with pytest.raises(BadReply) as recorded:
        record(path, [sse(text("A ro"), RESET, done=False)], QUESTION, mode="tools")
    with pytest.raises(BadReply) as replayed:
        list(Agent(ReplayClient(path), [read_article], mode="tools").run(QUESTION))
    assert str(replayed.value) == str(recorded.value)
    assert replayed.value.messages == recorded.value.messages
    assert lines(path)[-1]["type"] == "failed"


def test_a_stopped_run_is_told(tmp_path):
    path = tmp_path / "run.jsonl"
    with ScriptedServer([sse(text("A ro"), HOLD)]) as server, Transcript(path) as transcript:
        run = Agent(ChatClient(server.base_url), [], mode="tools", transcript=transcript).run(QUESTION)
        next(event for event in run if isinstance(event, TextDelta))
        run.close()
    assert lines(path)[-1]["type"] == "stopped"
    with pytest.raises(BadReply, match="was stopped there"):
        Agent(ReplayClient(path), [], mode="tools").ask(QUESTION)


def test_every_beginning_of_a_transcript_can_be_read(tmp_path):
    """As a process leaves it that is killed at any time."""
    path, cut = tmp_path / "run.jsonl", tmp_path / "cut.jsonl"
    record(path, replies(), QUESTION, mode="tools")
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole), 97):
        cut.write_bytes(whole[:end])
        assert ReplayClient(cut).model == "scripted"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello\n",
        b"[]\n",
        b"\xff\xfe\n",
        b'{"type":"run"}\n',
        b'{"type":"start","format":99}\n',
        b"{" * 5000 + b"\n",
    ],
)
def test_what_is_no_transcript(tmp_path, content):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(TranscriptError, match=r"x\.jsonl"):
        ReplayClient(path)


def test_damage_and_missing_files_are_told(tmp_path):
    path = tmp_path / "run.jsonl"
    record(path, replies(), QUESTION, mode="tools")
    damaged = [line for line in path.read_text().splitlines(keepends=True) if '"type":"message"' not in line]
    path.write_text("".join(damaged))
    with pytest.raises(TranscriptError, match="damaged"):
        ReplayClient(path)
    with pytest.raises(TranscriptError, match="cannot be read"):
        ReplayClient(tmp_path / "nothing.jsonl")


def test_no_file_is_overwritten(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text("precious")
    with pytest.raises(TranscriptError, match="another name"):
        Transcript(path)
    assert path.read_text() == "precious"
    with pytest.raises(TranscriptError, match="cannot be written"):
        Transcript(tmp_path / "no folder" / "run.jsonl")


def shown(path, *options):
    """What `ratsearch replay` prints into a pipe."""
    command = [sys.executable, "-m", "ratsearch_lib", "replay", str(path), *options]
    return subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT)


def test_replay_shows_what_happened(tmp_path):
    path = tmp_path / "run.jsonl"
    thought = sse(reasoning("Hm."), text("A rodent\x1b[2J."), finish())
    said = [call("read_article", {"title": "Rat"}), thought, sse(text("A ro"), RESET, done=False)]
    with pytest.raises(BadReply):
        record(path, said, QUESTION, "Really?", mode="tools")
    result = shown(path)
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    told = result.stdout.splitlines()
    assert told[1:3] == ["no archive", f"scripted at {lines(path)[0]['server']} (recorded {lines(path)[0]['time']})"]
    assert told[4:] == [
        "  <><><> USER <><><>",
        "What is a rat?",
        "  ===== AGENT =====",
        "[tool call]: read_article | Rat",
        "Article: Rat",
        "A rodent – 鼠.",
        "  ===== AGENT =====",
        "----- Reasoning -----",
        "Hm.",
        "---------------------",
        "A rodent␛[2J.",
        "[0 of 1 sentence found in what was read]",
        "  A rodent␛[2J.  (partly in Rat, which lacks: 2)",
        "",
        "  <><><> USER <><><>",
        "Really?",
        "  ===== AGENT =====",
        "A ro",
        f"[{lines(path)[-1]['message']}]",
        "",
    ]
    assert shown(path, "--speed", "1000").stdout == result.stdout


def test_replay_refuses_what_is_none(tmp_path):
    assert "is not a transcript" in shown(ROOT / "README.md").stderr
    assert "cannot be read" in shown(tmp_path / "nothing").stderr
    assert shown(ROOT / "README.md", "--speed", "fast").returncode == 2


@pytest.mark.parametrize(
    "content",
    [
        "",
        '{"type":"start","format":1,"archives":-1}\n',
        '{"type":"start","format":1}\n{"type":"run","run":[]}\n',
        '{"type":"start","format":1}\n{"type":"run","run":1,"at":0,"question":5}\n',
    ],
)
def test_replay_of_damage_is_an_error(tmp_path, content):
    path = tmp_path / "run.jsonl"
    path.write_text(content)
    with pytest.raises(TranscriptError, match=r"run\.jsonl"):
        replay(path, Screen(io.StringIO(), {}), speed=0)


def test_ask_saves_and_refuses_to_overwrite(tmp_path):
    path = tmp_path / "run.jsonl"
    with ScriptedServer([say("A rodent.")]) as server:
        command = [sys.executable, "-m", "ratsearch_lib", "ask", QUESTION, "--endpoint", server.base_url]
        command += ["--mode", "tools", "--context", "3000", "--save", str(path)]
        first, second = (subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT) for _ in range(2))
    assert first.stdout == "A rodent.\n"
    assert ReplayClient(path).window() == 3000  # as --context says: the server does not
    assert second.returncode == 1
    assert "is there already" in second.stderr


def test_a_server_that_loads_is_waited_for(tmp_path):
    path = tmp_path / "run.jsonl"
    loading = error_reply(503, "Loading model", {"Retry-After": "0"})
    answers = iter([loading, models("scripted")])
    events = record(path, [say("A rodent.")], QUESTION, routes={"GET /v1/models": lambda _: next(answers)})[0]
    assert events[-1].answer == "A rodent."
    assert lines(path)[0]["type"] == "start"


def test_subagents_and_warming_up_are_recorded(tmp_path):
    path = tmp_path / "run.jsonl"
    with ScriptedServer([say("x"), say("Le rat.")]) as server, Transcript(path) as transcript:
        client = ChatClient(server.base_url)
        Agent(client, [read_article], mode="tools", transcript=transcript).warm_up()
        assert subagent(transcript.recording(client), "Translate.", "The rat.") == "Le rat."
    assert subagent(ReplayClient(path), "Translate.", "The rat.") == "Le rat."
    assert lines(path)[0]["mode"] == "tools"


async def test_several_runs_at_once(tmp_path):
    def script(request):
        return say(request.json["messages"][-1]["content"].replace("number", "answer"))

    path = tmp_path / "run.jsonl"
    with ScriptedServer(script) as server, Transcript(path) as transcript:
        agent = Agent(ChatClient(server.base_url), [], mode="tools", transcript=transcript)

        async def one(number):
            return [event async for event in agent.arun(f"number {number}")]

        runs = await asyncio.gather(*map(one, range(20)))
    replaying = Agent(ReplayClient(path), [], mode="tools")
    for number, events in enumerate(runs):
        assert events[-1].answer == f"answer {number}"
        assert [event async for event in replaying.arun(f"number {number}")] == events
