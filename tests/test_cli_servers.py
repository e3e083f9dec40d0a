"""`ratsearch ask` with servers that it finds or starts itself."""

import json
import os
import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest

from ratsearch_lib.chat.discover import CANDIDATES, find_server
from ratsearch_lib.cli.servers import explain
from ratsearch_lib.errors import BadReply, ServerUnreachable
from ratsearch_lib.sample import archive_path

from .test_cli import KEY, ROOT, ratsearch


class found_server:
    """A chat server on one of the ports where servers are looked for. Gives the headers of its requests."""

    def __enter__(self) -> list[list[str]]:
        if find_server():
            pytest.skip("another chat server runs on this machine")
        seen: list[list[str]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                known = self.path == "/v1/models"
                self.answer(
                    b'{"data": [{"id": "found"}]}' if known else b"{}", 200 if known else 404, "application/json"
                )

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                chunk = {"choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}]}
                body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
                self.answer(body, 200, "text/event-stream")

            def answer(self, body: bytes, status: int, content_type: str) -> None:
                seen.append([f"{name}: {value}" for name, value in self.headers.items()])
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        for address in CANDIDATES:
            try:
                self.server = ThreadingHTTPServer(("127.0.0.1", urlsplit(address).port), Handler)
                break
            except OSError:
                continue
        else:
            pytest.skip("all ports where servers are looked for are taken")
        self.thread = Thread(target=self.server.serve_forever)
        self.thread.start()
        return seen

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def test_key_is_not_sent_to_a_found_server():
    with found_server() as headers:
        done = ratsearch("ask", "--zim", str(archive_path()), "Hi", OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    assert "(found on this machine)" in done.stderr
    assert done.stdout == "Hello.\n"
    assert len(headers) >= 2
    assert not [line for lines in headers for line in lines if KEY in line]


class TestRealServer:
    """With a real llama.cpp server that the command starts."""

    QUESTION = "When was George IV born?"

    @pytest.fixture
    def george(self, data, tmp_path) -> str:
        """A copy, since its title index is kept beside it."""
        return shutil.copy(data / "zim/wikipedia_en_100_mini_2022-10.zim", tmp_path)

    def test_embedded_model(self, george, weights):
        done = ratsearch("ask", "--zim", george, "--verbose", "--no-download", self.QUESTION)
        assert done.returncode == 0, done.stderr
        assert "[tool call]: read_article | " in done.stderr
        assert "\nArticle: George IV" in done.stderr
        assert "12 August 1762" in done.stdout
        assert "— George IV" in done.stdout

    @pytest.mark.timeout(1000)
    @pytest.mark.skipif(
        "RATSEARCH_TEST_GGUF" not in os.environ, reason="RATSEARCH_TEST_GGUF names no model that calls tools"
    )
    def test_model_that_calls_tools(self, george):
        done = ratsearch(
            "ask", "--zim", george, "--model", os.environ["RATSEARCH_TEST_GGUF"], "--temperature", "0", "--verbose",
            "--chat-template", str(ROOT / "tests/data/fenced_tool_calls.jinja"), "--mode", "tools", self.QUESTION,
            timeout_s=900,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "[tool call]: read_article | George IV" in done.stderr
        assert "\nArticle: George IV" in done.stderr
        assert "1762" in done.stdout


def test_a_model_that_was_started_here_and_has_ended():
    unreachable = ServerUnreachable("Nothing answers at x: start the server.")
    assert explain(unreachable, None) == str(unreachable)
    assert "start ratsearch again" in explain(unreachable, object())
    assert explain(BadReply("No."), object()) == "No."
