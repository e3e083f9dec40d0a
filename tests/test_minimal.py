"""notebooks/minimal.py: short, with four packages, against a real llama.cpp server and one that calls the tool."""

import ast
import os
import subprocess
import sys
from pathlib import Path

from ratsearch_lib import LocalServer
from ratsearch_lib.sample import archive_path

from .conformance.server import ScriptedServer, json_reply

FILE = Path(__file__).resolve().parent.parent / "notebooks" / "minimal.py"


def run(base_url, said, key="none"):
    """The program with these lines typed, an empty one at the end."""
    command = [sys.executable, str(FILE), str(archive_path()), base_url]
    env = {**os.environ, "OPENAI_API_KEY": key, "PYTHONIOENCODING": "utf-8"}
    typed = "\n".join([*said, "", ""])
    return subprocess.run(command, input=typed, capture_output=True, encoding="utf-8", env=env, timeout=300)


def completion(content="", *calls):
    """A whole reply, with tool calls as (id, arguments)."""
    message = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": "read_article", "arguments": arguments}}
            for id, arguments in calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return json_reply({"id": "1", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]})


def test_is_at_most_a_hundred_lines_and_needs_four_packages():
    source = FILE.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 100
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module.partition(".")[0])
    assert imported - set(sys.stdlib_module_names) == {"libzim", "html2text", "rapidfuzz", "openai"}


def test_talks_to_a_real_server(weights):
    with LocalServer(weights, n_ctx=2048) as server:
        done = run(server.base_url, ["Say hello."], server.api_key)
    assert done.returncode == 0, done.stderr
    assert "SmolLM2-135M" in done.stdout
    assert done.stdout.count("===== AGENT =====") == 1
    assert done.stdout.partition("===== AGENT =====\n")[2].partition("USER")[0].strip()


def test_reads_what_is_called_for():
    replies = [
        completion("", ("a", '{"title": "Tallest deer"}'), ("b", '{"title": "Alces_alces"}')),
        completion("", ("c", '{"name": "Moose"}')),
        completion("A moose."),
        completion("Up to 2.1 m."),
    ]
    with ScriptedServer(replies) as server:
        done = run(server.base_url, ["Which is the tallest deer?", "How tall is it?"])
        first, second, third, fourth = (request.json for request in server.requests if request.method == "POST")
    assert done.returncode == 0, done.stderr
    assert "A moose." in done.stdout
    assert "Up to 2.1 m." in done.stdout
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert first["tools"][0]["function"]["name"] == "read_article"
    listed, read = second["messages"][-2:]
    assert (listed["tool_call_id"], read["tool_call_id"]) == ("a", "b")
    assert listed["content"].startswith("Article not found. Related articles:\n")
    assert read["content"].startswith("Article: Moose\n")
    assert "largest living deer" in read["content"]
    assert third["messages"][-1]["content"] == 'Call read_article with {"title": …}.'
    assert [message["role"] for message in fourth["messages"]][-2:] == ["assistant", "user"]
