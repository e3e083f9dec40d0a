"""What a server says of itself, and finding one."""

import json

import pytest

from ratsearch_lib.chat import ChatClient
from ratsearch_lib.chat.discover import FoundServer, find_server, find_servers
from ratsearch_lib.errors import AuthenticationFailed, ChatError, ModelNotFound, ServerLoading

from .conformance.asking import answer_of, ask
from .conformance.server import ScriptedServer, error_reply, json_reply, llamacpp_props, models, raw, say


def test_the_first_model_that_can_chat_is_chosen():
    listed = models("nomic-embed-text", "bge-m3", "qwen3:4b", "llama3")
    with ScriptedServer([say("A")], routes={"GET /v1/models": listed}) as server:
        client = ChatClient(server.base_url)
        assert client.models() == ["qwen3:4b", "llama3"]
        ask(server, client)
        assert client.model == "qwen3:4b"


def test_a_named_model_is_not_looked_up():
    with ScriptedServer([say("A")], routes={"GET /v1/models": error_reply(404, "no list")}) as server:
        assert answer_of(ask(server, ChatClient(server.base_url, "mine"))) == "A"


def test_a_server_without_models():
    routes = {"GET /v1/models": models("nomic-embed-text")}
    with ScriptedServer(routes=routes) as server, pytest.raises(ModelNotFound, match="ollama pull"):
        ask(server)


@pytest.mark.parametrize(
    "reply", [error_reply(404, "?"), raw(b"<html>"), json_reply([]), json_reply({"data": 3}), json_reply({"data": [3]})]
)
def test_lists_of_models_that_are_none(reply):
    with ScriptedServer(routes={"GET /v1/models": reply}) as server, pytest.raises(ChatError):
        ask(server)


def test_loading_and_keys_are_noticed_before_the_first_question():
    for reply, kind in (
        (error_reply(503, "Loading model"), ServerLoading),
        (error_reply(401, "?"), AuthenticationFailed),
    ):
        with ScriptedServer(routes={"GET /v1/models": reply}) as server, pytest.raises(kind):
            ChatClient(server.base_url).models()


def vllm():
    return {"GET /v1/models": json_reply({"data": [{"id": "m", "max_model_len": 32768}]})}


def lm_studio():
    entry = {"id": "m", "loaded_context_length": 12000, "max_context_length": 131072, "capabilities": ["tool_use"]}
    return {"GET /v1/models": models("m"), "GET /api/v0/models": json_reply({"data": [entry]})}


def ollama(loaded, parameters=""):
    shown = {
        "parameters": parameters,
        "capabilities": ["completion", "tools"],
        "model_info": {"x.context_length": 131072},
    }
    return {
        "GET /v1/models": models("m"),
        "GET /api/ps": json_reply({"models": loaded}),
        "POST /api/show": json_reply(shown),
    }


@pytest.mark.parametrize(
    ("routes", "window", "tools", "slots"),
    [
        ({"GET /props": llamacpp_props(n_ctx=16384, slots=4, tools=False)}, 16384, False, 4),
        (vllm(), 32768, None, 1),
        (lm_studio(), 12000, True, 1),
        (ollama([{"name": "m", "model": "m", "context_length": 8192}]), 8192, True, 1),
        (ollama([], "stop <|end|>\nnum_ctx                        6144\ntemperature 0.6"), 6144, True, 1),
        (ollama([]), 4096, True, 1),
        ({}, 4096, None, 1),
        (
            {"GET /props": json_reply({"default_generation_settings": {"n_ctx": "many"}, "total_slots": -1})},
            4096,
            None,
            1,
        ),
    ],
    ids=["llama.cpp", "vLLM", "LM Studio", "Ollama loaded", "Ollama set", "Ollama default", "unknown", "nonsense"],
)
def test_window_tools_and_slots(routes, window, tools, slots):
    with ScriptedServer(routes=routes) as server:
        client = ChatClient(server.base_url)
        assert (client.window(), client.supports_tools(), client.slots()) == (window, tools, slots)


def test_what_a_server_does_not_say_is_asked_for_once():
    with ScriptedServer() as server:
        client = ChatClient(server.base_url, "m")
        assert [(client.supports_tools(), client.window()) for _ in range(3)] == [(None, 4096)] * 3
        assert len(server.other_requests) <= 7


@pytest.mark.parametrize(
    "make_routes", [dict, vllm, lm_studio, lambda: ollama([])], ids=["unknown", "v", "lm", "ollama"]
)
def test_a_second_question_asks_nothing_of_the_server_again(make_routes):
    with ScriptedServer([say("A"), say("B")], routes=make_routes()) as server:
        client = ChatClient(server.base_url)
        for _ in range(2):
            client.window(), client.supports_tools(), client.slots()
            ask(server, client)
        asked = [request.path for request in server.other_requests if request.path != "/v1/models"]
        listed = [request.path for request in server.other_requests if request.path == "/v1/models"]
    assert sorted(asked) == sorted(set(asked))
    assert len(listed) <= 2  # for the model's name, and for its window


def test_tools_are_asked_for_by_model():
    def shown(request):
        return json_reply({"capabilities": ["tools"] if request.json["model"] == "able" else ["completion"]})

    with ScriptedServer(routes={"POST /api/show": shown}) as server:
        client = ChatClient(server.base_url, "able")
        assert client.supports_tools() is True
        client.model = "unable"
        assert client.supports_tools() is False


def test_a_named_model_is_found_in_the_list():
    listed = models("qwen3:latest", "nomic-embed-text", "models/gemini", "maker/big")
    with ScriptedServer(routes={"GET /v1/models": listed}) as server:
        for named, found in (
            ("qwen3:latest", "qwen3:latest"),
            ("qwen3", "qwen3:latest"),
            ("nomic-embed-text", "nomic-embed-text"),
            ("gemini", "models/gemini"),
            ("maker/big:free", "maker/big:free"),
            (None, "qwen3:latest"),
        ):
            assert ChatClient(server.base_url, named).find_model() == found
        for named in ("qwen3:8b", "qwen", "maker/small:free"):
            with pytest.raises(
                ModelNotFound, match=f"'{named}'.*It has: qwen3:latest, nomic-embed-text, models/gemini"
            ):
                ChatClient(server.base_url, named).find_model()


def test_a_server_that_lists_nothing_is_trusted():
    for listed in (models(), error_reply(404, "model list not found"), error_reply(405, "?")):
        with ScriptedServer(routes={"GET /v1/models": listed}) as server:
            assert ChatClient(server.base_url, "mine").find_model() == "mine"
    with ScriptedServer(routes={"GET /v1/models": raw(b"<html>")}) as server, pytest.raises(ChatError):
        ChatClient(server.base_url, "mine").find_model()


def test_a_window_of_ones_own_for_servers_that_do_not_say():
    with ScriptedServer() as server:
        client = ChatClient(server.base_url, context_tokens=32768)
        assert [client.window(), client.window()] == [32768, 32768]
        asked = [request.path for request in server.other_requests]
        assert asked.count("/props") == 1  # it will not say more the next time
    with ScriptedServer(routes={"GET /props": llamacpp_props(n_ctx=2048)}) as server:
        assert ChatClient(server.base_url, context_tokens=32768).window() == 2048


async def test_async_twins():
    with ScriptedServer(routes={"GET /props": llamacpp_props(n_ctx=2048, slots=2)}) as server:
        client = ChatClient(server.base_url)
        assert await client.amodels() == ["scripted"]
        assert (await client.awindow(), await client.asupports_tools(), await client.aslots()) == (2048, True, 2)
        assert client.window() == 2048  # the same client from another loop


def test_recorded_props(data):
    recorded = json.loads((data / "captures" / "llamacpp_props.json").read_text())
    with ScriptedServer(routes={"GET /props": json_reply(recorded["body"])}) as server:
        client = ChatClient(server.base_url)
        assert (client.window(), client.supports_tools(), client.slots()) == (4096, False, 1)


async def test_recorded_counts(data):
    def recorded(name):
        return json_reply(json.loads((data / "captures" / f"{name}.json").read_text())["body"])

    question = [{"role": "user", "content": "Say hello in three words."}]
    props = {"GET /props": llamacpp_props()}
    count = {**props, "POST /v1/chat/completions/input_tokens": recorded("llamacpp_input_tokens")}
    with ScriptedServer(routes=count) as server:
        assert await ChatClient(server.base_url).acount(question) == 36
    older = {
        **props,
        "POST /apply-template": recorded("llamacpp_apply_template"),
        "POST /tokenize": recorded("llamacpp_tokenize"),
    }
    with ScriptedServer(routes=older) as server:
        assert await ChatClient(server.base_url).acount(question) == 7
        assert "Say hello in three words." in server.other_requests[-1].json["content"]
    with ScriptedServer(routes=props) as server:
        assert await ChatClient(server.base_url).acount(question) is None
    with ScriptedServer() as server:
        assert await ChatClient(server.base_url).acount(question) is None
        assert [request.path for request in server.other_requests] == ["/props"]


# Finding a server


def test_the_first_real_chat_server_is_found():
    nothing = ScriptedServer()
    with nothing:
        pass  # its port is free again
    website = ScriptedServer(routes={"GET /v1/models": raw(b"<html>", content_type="text/html")})
    embedder = ScriptedServer(routes={"GET /v1/models": models("nomic-embed-text")})
    locked = ScriptedServer(routes={"GET /v1/models": error_reply(401, "Invalid API Key")})
    other_json = ScriptedServer(routes={"GET /v1/models": json_reply({"data": "none"})})
    with website, embedder, locked, other_json, ScriptedServer() as first, ScriptedServer() as second:
        wrong = [server.base_url for server in (nothing, website, embedder, locked, other_json)]
        assert find_server([*wrong, first.base_url, second.base_url]) == first.base_url
        assert find_server(wrong) is None
        assert find_servers(wrong) == [FoundServer(locked.base_url, wants_key=True)]
    assert find_server([]) is None


def test_a_server_that_still_loads_counts():
    with ScriptedServer(routes={"GET /v1/models": error_reply(503, "Loading model")}) as server:
        assert find_server([server.base_url]) == server.base_url
