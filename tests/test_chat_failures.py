"""What goes wrong with a chat server: one clear error each, and never the key in it."""

import importlib.util
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.chat import ChatClient
from ratsearch_lib.chat.bridge import iterate
from ratsearch_lib.chat.failures import failure, retry_after_s
from ratsearch_lib.errors import (
    AuthenticationFailed,
    BadReply,
    ChatError,
    ContextOverflow,
    ModelNotFound,
    ServerLoading,
    ServerUnreachable,
)

from .conformance.asking import QUESTION, ask
from .conformance.server import (
    CLOSE,
    RESET,
    ScriptedServer,
    error_event,
    error_reply,
    hang,
    json_reply,
    progress,
    raw,
    reset,
    say,
    sse,
    text,
)

KEY = "sk-4815162342-secret"


def failure_of(reply, **client_options):
    with ScriptedServer([reply]) as server:
        client = ChatClient(server.base_url, **client_options)
        with pytest.raises(ChatError) as caught:
            ask(server, client)
        if type(caught.value) is not ServerUnreachable:
            assert server.base_url in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (error_reply(503, "Loading model", type="unavailable_error"), ServerLoading, "try again in a moment"),
        (error_reply(401, "Invalid API Key"), AuthenticationFailed, "wants an API key"),
        (error_reply(403, "Forbidden"), AuthenticationFailed, "wants an API key"),
        (error_reply(404, 'model "x" not found, try pulling it first'), ModelNotFound, "--model"),
        (error_reply(404, "The model `x` does not exist."), ModelNotFound, "--model"),
        (error_reply(400, "No", code="model_not_found"), ModelNotFound, "--model"),
        (error_reply(404, "File Not Found"), BadReply, "check the address"),
        (error_reply(429, "Rate limit reached"), ChatError, "wait, and try again"),
        (error_reply(500, "Out of memory"), ChatError, "Out of memory"),
        (raw(b"<html><h1>502 Bad Gateway</h1></html>", status=502, content_type="text/html"), ChatError, "HTTP 502"),
        (raw(b"<!DOCTYPE html><p>Router</p>", content_type="text/html; charset=utf-8"), BadReply, "a web page"),
        (raw(b"", status=204), BadReply, "before the first word"),
        (sse(done=False), BadReply, "before the first word"),
        (sse(), BadReply, "before the first word"),
        (sse(progress(128, 300), CLOSE), BadReply, "before the first word"),
        (sse(b"data: {garbage\n\n"), BadReply, "not JSON"),
        (sse(b"data: [1, 2]\n\n"), BadReply, "not JSON"),
        (sse(b"data: " + b"[" * 100_000 + b"\n\n"), BadReply, "not JSON"),
        (sse(b"data: \xff\xfe\n\n"), BadReply, "not JSON"),
        (json_reply({"error": "model is on fire"}), ChatError, "model is on fire"),
        (reset(), BadReply, "broke off"),
        (sse({"object": "error", "message": "engine died", "code": 500}), ChatError, "engine died"),
    ],
)
def test_failures_are_one_clear_sentence(reply, kind, words):
    error = failure_of(reply)
    assert type(error) is kind
    assert words in str(error)


@pytest.mark.parametrize(
    "reply",
    [
        error_reply(400, "request (10531 tokens) exceeds the available context size (4096 tokens), try increasing it"),
        error_reply(400, "no words we know", type="exceed_context_size_error"),
        error_reply(400, "no words we know", code="context_length_exceeded"),
        error_reply(400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."),
        error_reply(400, "The decoder prompt (length 9000) is longer than the maximum model length of 4096."),
        sse(
            error_event(
                "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with "
                "context length of only 4096 tokens, which is not enough."
            )
        ),
        error_reply(500, "the input length exceeds the context length"),
    ],
    ids=["llama.cpp", "llama.cpp type", "OpenAI code", "vLLM", "vLLM newer", "LM Studio", "Ollama"],
)
def test_context_overflow_in_each_servers_words(reply):
    assert type(failure_of(reply)) is ContextOverflow


def test_what_came_before_a_failure_is_kept():
    for ending, kind in ((RESET, BadReply), (error_event("cuda died", code=500), ChatError)):
        with ScriptedServer([sse(text("A "), text("bison"), ending)]) as server:
            client = ChatClient(server.base_url)
            deltas = iterate(lambda: client.stream(QUESTION))  # noqa: B023
            assert [next(deltas).text, next(deltas).text] == ["A ", "bison"]
            with pytest.raises(kind):
                next(deltas)


def test_nothing_listens():
    with ScriptedServer() as server:
        base_url = server.base_url
    with pytest.raises(ServerUnreachable, match=r"--endpoint.*[Rr]efused") as caught:
        ask(None, ChatClient(base_url, "named"))
    assert base_url in str(caught.value)
    with pytest.raises(ServerUnreachable):
        ChatClient(base_url).models()
    with pytest.raises(ServerUnreachable):
        ChatClient("no-such-host.invalid").models()


@pytest.mark.parametrize("model", [None, "named"])
def test_a_host_name_that_cannot_be_one(model):
    client = ChatClient("http://xn--\u2019/", model)
    with pytest.raises(ServerUnreachable):
        client.models()
    with pytest.raises(ServerUnreachable):
        list(iterate(lambda: client.stream(QUESTION)))


def test_silence_has_a_limit():
    with ScriptedServer([hang()]) as server, pytest.raises(BadReply, match="sent nothing for 0 s"):
        ask(server, ChatClient(server.base_url, timeout_s=0.2))


def test_the_key_is_in_no_error_and_no_repr():
    for reply in (
        error_reply(401, f"Incorrect API key provided: {KEY}"),
        raw(f"who is {KEY}?".encode(), status=500),
        sse(error_event(f"bad key {KEY}")),
    ):
        error = failure_of(reply, api_key=KEY)
        assert KEY not in str(error)
        assert error.__cause__ is None
        assert error.__context__ is None or error.__suppress_context__
    assert KEY not in repr(ChatClient("localhost", api_key=KEY))


@pytest.mark.parametrize("key", [f"{KEY}\n", f" {KEY} ", f"\t{KEY}\r\n"])
def test_white_space_around_a_key_is_not_sent(key):
    with ScriptedServer([say("A")]) as server:
        client = ChatClient(server.base_url, api_key=key, extra_headers={"X-Key": key})
        client.models()
        ask(server, client)
        sent = [request.headers for request in [*server.requests, *server.other_requests]]
    assert {headers["authorization"] for headers in sent} == {f"Bearer {KEY}"}
    assert {headers["x-key"] for headers in sent} == {KEY}


@pytest.mark.parametrize("key", [f"{KEY}\u2019", f"{KEY}\n{KEY}", f"{KEY}\r\nX-Other: 1", f"{KEY}\0", f"\ufeff{KEY}"])
def test_a_key_that_cannot_be_one_is_refused_and_not_repeated(key):
    for options in ({"api_key": key}, {"extra_headers": {"X-Key": key}}):
        with pytest.raises(AuthenticationFailed, match="copy it again") as caught:
            ChatClient("localhost:9", **options)
        assert KEY not in str(caught.value)


def test_a_key_in_another_header_is_in_no_error():
    error = failure_of(error_reply(401, f"Bad token {KEY}"), extra_headers={"X-Auth": f"Token {KEY}"})
    assert KEY not in str(error)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(f"your key {KEY} is bad"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "message", "code", "type", "detail", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(json_values, st.none() | st.integers(300, 599))
def test_whatever_a_server_says_makes_an_error_without_the_key(body, status):
    error = failure("http://host/v1", status, body, key=KEY)
    assert isinstance(error, ChatError)
    assert "http://host/v1" in str(error)
    assert KEY not in str(error)
    assert str(error).isprintable()  # an error text may end up in a terminal
    assert len(str(error)) < 700


def test_the_key_does_not_follow_a_redirect():
    with ScriptedServer([say("mine")]) as thief:
        elsewhere = json_reply({}, status=307, Location=f"{thief.base_url}/chat/completions")
        error = failure_of(elsewhere, api_key=KEY)
        assert type(error) is BadReply
        assert thief.requests == []


def test_recorded_overflow(data):
    recorded = json.loads((data / "captures" / "llamacpp_error_context_overflow_stream.json").read_text())
    error = failure_of(json_reply(recorded["body"], status=recorded["status"]))
    assert type(error) is ContextOverflow
    assert "10531 tokens" in str(error)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "foo://me:geheim@127.0.0.1:9"),
        ("HTTP_PROXY", "http://me:geheim@127.0.0.1:99999"),
        ("HTTPS_PROXY", "http://me:geheim@[127.0.0.1"),
        ("SSL_CERT_FILE", "/nowhere/geheim.pem"),
    ],
)
def test_settings_of_the_environment_that_cannot_be_used(monkeypatch, variable, value):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv(variable, value)
    client = ChatClient("http://chat.invalid/v1", "m")
    for ask_it in (client.models, lambda: list(iterate(lambda: client.stream(QUESTION)))):
        with pytest.raises(ServerUnreachable, match=f"setting {variable} cannot be used") as caught:
            ask_it()
        assert "geheim" not in str(caught.value)


def test_socks_proxy_without_its_package(monkeypatch):
    if importlib.util.find_spec("socksio"):
        pytest.skip("it can be used here")
    monkeypatch.setenv("ALL_PROXY", "socks5h://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("all_proxy", raising=False)
    with pytest.raises(ServerUnreachable, match="ALL_PROXY"):
        ChatClient("http://chat.invalid/v1").models()


@pytest.mark.parametrize("headers", [{"retry-after": "nan"}, {"retry-after": "inf"}, {"retry-after-ms": "-inf"}])
def test_no_time_to_wait_for(headers):
    assert retry_after_s(headers) is None
