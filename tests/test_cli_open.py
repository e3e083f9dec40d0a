"""Which server `ratsearch` opens: the named one or one that it finds, with the model that was asked for."""

import pytest

from ratsearch_lib.chat import discover
from ratsearch_lib.cli.options import Options
from ratsearch_lib.cli.servers import model_line, open_client
from ratsearch_lib.errors import AuthenticationFailed, ModelNotFound

from .conformance.server import ScriptedServer, error_reply, models


@pytest.fixture
def on_this_machine(monkeypatch):
    """Says where servers are looked for: the usual ports may be taken, or closed to tests."""

    def listen(*servers: ScriptedServer) -> None:
        addresses = tuple(server.base_url for server in servers)
        monkeypatch.setattr(discover.find_servers, "__defaults__", (addresses,))

    return listen


def serving(*names: str) -> ScriptedServer:
    return ScriptedServer(routes={"GET /v1/models": models(*names)})


def loading(times: int, *names: str) -> ScriptedServer:
    """It says so many times that it still loads."""
    left = iter(range(times))
    busy, ready = error_reply(503, "Loading model"), models(*names)
    return ScriptedServer(routes={"GET /v1/models": lambda request: ready if next(left, None) is None else busy})


class TestNamedModel:
    def test_the_found_server_that_lists_it(self, on_this_machine):
        with serving("other.gguf") as first, serving("llama3", "qwen3:8b") as second:
            on_this_machine(first, second)
            options = Options(model="qwen3:8b")
            client, _ = open_client(options, print)
            assert client.base_url == second.base_url
            assert model_line(options, client, None) == f"qwen3:8b at {second.base_url} (found on this machine)"

    def test_no_found_server_lists_it(self, on_this_machine):
        with serving("a") as first, serving("b") as second:
            on_this_machine(first)
            with pytest.raises(ModelNotFound, match=f"{first.base_url} does not serve the model 'qwen'.*It has: a"):
                open_client(Options(model="qwen"), print)
            on_this_machine(first, second)
            with pytest.raises(ModelNotFound, match=f"{first.base_url} and {second.base_url} serves 'qwen'"):
                open_client(Options(model="qwen"), print)

    def test_endpoint_that_does_not_list_it(self):
        with serving("one", "two") as server, pytest.raises(ModelNotFound, match="It has: one, two"):
            open_client(Options(endpoint=server.base_url, model="tow"), print)

    def test_tag_that_ollama_implies(self):
        with serving("qwen3:latest") as server:
            client, _ = open_client(Options(endpoint=server.base_url, model="qwen3"), print)
            assert client.model == "qwen3:latest"

    def test_endpoint_without_a_list_is_trusted(self):
        with ScriptedServer(routes={"GET /v1/models": error_reply(404, "?")}) as server:
            options = Options(endpoint=server.base_url, model="mine")
            client, _ = open_client(options, print)
            assert model_line(options, client, None) == f"mine at {server.base_url}"


class TestNotReady:
    def test_one_that_loads_is_waited_for(self, on_this_machine):
        said = []
        with loading(2, "slow") as server:
            on_this_machine(server)
            client, _ = open_client(Options(), said.append)
            assert client.model == "slow"
        with loading(1, "slow") as server:
            open_client(Options(endpoint=server.base_url), said.append)
        assert len(said) == 2
        assert all("is still loading its model; waiting for it (Ctrl-C stops)" in line for line in said)

    def test_waiting_can_be_interrupted(self):
        def interrupt(line):
            raise KeyboardInterrupt

        with loading(1_000_000) as server, pytest.raises(KeyboardInterrupt):
            open_client(Options(endpoint=server.base_url), interrupt)

    def test_one_that_is_ready_is_not_kept_waiting_for(self, on_this_machine):
        said = []
        with loading(1_000_000) as busy, serving("llama3") as ready:
            on_this_machine(busy, ready)
            assert open_client(Options(model="llama3"), said.append)[0].base_url == ready.base_url
        assert said == []

    def test_one_that_wants_a_key_is_told_of_and_passed_over(self, on_this_machine):
        said = []
        locked = ScriptedServer(routes={"GET /v1/models": error_reply(401, "Invalid API Key")})
        with locked, serving("open") as server:
            on_this_machine(locked, server)
            assert open_client(Options(), said.append)[0].base_url == server.base_url
            (line,) = said
            assert f"{locked.base_url} wants an API key and is passed over" in line
            assert "OPENAI_API_KEY" in line
            with pytest.raises(AuthenticationFailed):
                open_client(Options(endpoint=locked.base_url), said.append)
