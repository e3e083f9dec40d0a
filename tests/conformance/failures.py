"""Servers that fail, and streams that are odd."""

from __future__ import annotations

from ratsearch_lib.errors import AuthenticationFailed, BadReply, ChatError, ModelNotFound, ServerLoading

from .case import Case
from .server import (
    CLOSE,
    RESET,
    Reply,
    call,
    error_event,
    error_reply,
    finish,
    hang,
    json_reply,
    raw,
    reset,
    say,
    sse,
    text,
)

RAT = {"title": "Rat"}
ANSWER = say("A rodent.")
CLEAR = "one clear sentence; the conversation can go on"
AT_ONCE = {"Retry-After": "0"}


def fails(name: str, symptom: str, reply: Reply, error: type[ChatError], said: str, reports: str = "",
          answer: str = "") -> Case:  # fmt: skip
    expected = "what came stays; " + CLEAR if answer else CLEAR
    return Case(name, symptom, expected, [reply], reports, answer, error=error, said=said)


def odd(name: str, symptom: str, reply: Reply, reports: str = "") -> Case:
    return Case(name, symptom, "is read as the answer it is", [reply], reports, "A rodent.", requests=1)


FAILURES = [
    fails("reset-at-once", "the connection is reset before a byte", reset(), BadReply, "broke off"),
    fails("reset-in-the-middle", "the connection is reset in the middle", sse(text("A ro"), RESET, done=False),
          BadReply, "broke off", answer="A ro"),
    fails("error-event", "an error event in the middle, after status 200",
          sse(text("A ro"), error_event("CUDA out of memory", code=500), done=False), ChatError, "CUDA out of memory",
          "aaif-goose/goose#8027", "A ro"),
    fails("error-object", "an error event in vLLM's older shape",
          sse(text("A ro"), {"object": "error", "message": "engine died", "code": 500}), ChatError, "engine died",
          answer="A ro"),
    fails("garbage-line", "a line that is no JSON", sse(text("A ro"), b"data: {garbage\n\n"), BadReply, "not JSON",
          "bentoml/OpenLLM#864", "A ro"),
    fails("no-utf-8", "bytes that are no UTF-8", sse(b"data: \xff\xfe\n\n"), BadReply, "not JSON"),
    fails("nothing", "a stream that ends before the first word", sse(done=False), BadReply, "before the first word",
          "maruakshay/miii-cli#71"),
    fails("closed-while-reading", "a connection closed before the answer begins", sse(CLOSE), BadReply, "broke off"),
    fails("web-page", "a web page with status 200", raw(b"<!DOCTYPE html><p>Router</p>", content_type="text/html"),
          BadReply, "web page"),
    fails("bad-gateway", "a proxy's error page", raw(b"<html>502</html>", status=502, content_type="text/html"),
          ChatError, "HTTP 502"),
    fails("out-of-memory", "status 500", error_reply(500, "out of memory"), ChatError, "out of memory"),
    fails("wrong-key", "a wrong API key", error_reply(401, "Invalid API Key"), AuthenticationFailed, "OPENAI_API_KEY"),
    fails("unknown-model", "a model that is not served", error_reply(404, 'model "x" not found, try pulling it first'),
          ModelNotFound, "--model"),
    fails("wrong-address", "another server at that address", error_reply(404, "File Not Found"), BadReply,
          "check the address"),
    fails("out-of-credit", "status 429 as the account is empty",
          error_reply(429, "You exceeded your current quota, please check your plan and billing details.", AT_ONCE),
          ChatError, "billing"),
    fails("come-back-tomorrow", "status 429 with a wait of a day",
          error_reply(429, "Daily limit reached", {"Retry-After": "86400"}), ChatError, "Daily limit"),
    fails("overloaded-in-the-middle", "status 503 in an error event, after the first words",
          sse(text("A ro"), error_event("overloaded", code=503), done=False), ServerLoading, "overloaded",
          answer="A ro"),
    Case("silence", "not one byte", "a time limit ends it; " + CLEAR, [hang()], error=BadReply, said="sent nothing",
         client={"timeout_s": 0.3}),
    Case("failure-after-reading", "status 500 after a tool's result", "the result stays in the conversation",
         [call("read_article", RAT), error_reply(500, "out of memory")], error=ChatError, read=["Rat"]),
    Case("busy", "status 429 with Retry-After", "it waits, says so, and asks again",
         [error_reply(429, "Rate limit reached", AT_ONCE), ANSWER], answer="A rodent.", notices=1),
    Case("loading", "status 503 while the model is loaded", "it waits, says so, and asks again",
         [error_reply(503, "Loading model", AT_ONCE), ANSWER], answer="A rodent.", notices=1),
    Case("busy-after-reading", "status 429 after a tool's result", "it waits, says so, and asks again",
         [call("read_article", RAT), error_reply(429, "Slow down", AT_ONCE), ANSWER], answer="A rodent.", notices=1),
]  # fmt: skip

STREAMS = [
    odd("no-done", "no [DONE] at the end", sse(text("A rodent."), finish(), done=False)),
    odd("no-finish-reason-text", "no finish_reason", sse(text("A rodent."))),
    odd("just-ends", "a stream that just ends", sse(text("A rodent."), done=False)),
    odd("reset-after-the-end", "a reset after the last word", sse(text("A rodent."), finish(), RESET, done=False)),
    odd("whole-completion", "a whole completion instead of a stream",
        json_reply({"choices": [{"message": {"role": "assistant", "content": "A rodent."}}]})),
    odd("comments", "comments, CRLF and no content type", Reply(
        (b': ping\r\n\r\ndata: {"choices":[{"delta":{"content":"A rodent."}}]}\r\n\r\n',), 200, {})),
    odd("retry-directive", "an event that is only `retry:`", sse(b"retry: 3000\n\n", text("A rodent."), finish()),
        "openai/openai-python#2722"),
    odd("content-parts", "content as a list of parts",
        sse({"choices": [{"delta": {"content": [{"type": "text", "text": "A rodent."}]}}]})),
    odd("empty-choices", "events without choices", sse({"choices": []}, text("A rodent."), {"choices": None})),
    odd("nulls", "null in every field", sse({"choices": [{"delta": {
        "content": None, "reasoning_content": None, "tool_calls": None, "role": "assistant"}, "finish_reason": None}],
        "usage": None}, text("A rodent."), finish())),
    Case("stream-options-refused", "“stream_options is unsupported”", "asked again without it, from then on",
         [error_reply(400, "property 'stream_options' is unsupported, did you mean 'stream'?"), ANSWER],
         "vercel/ai#1578", "A rodent.", check=lambda bodies: "stream_options" not in bodies[1]),
    Case("no-keep-alive", "a server that closes a connection which the client keeps",
         "each request has a connection of its own", [call("read_article", RAT), ANSWER],
         "NousResearch/hermes-agent#115289", "A rodent.", ["Rat"]),
]  # fmt: skip

GROUPS = {"Failures": FAILURES, "Odd streams": STREAMS}
