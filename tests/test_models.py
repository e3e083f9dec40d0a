"""Model files of the Hugging Face hub, fetched by the real client from a hub on a real socket."""

import hashlib
import json
import re
import shutil
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ratsearch_lib.chat.hub import KNOWN_MODELS, hub_file, hub_weights
from ratsearch_lib.cli import main
from ratsearch_lib.cli.options import Options
from ratsearch_lib.cli.servers import open_client
from ratsearch_lib.errors import ModelError, RatsearchError

MODEL = "hf:rats/Small-Rat-GGUF:small-rat-Q4_K_M.gguf"
PATH = "/rats/Small-Rat-GGUF/resolve/main/small-rat-Q4_K_M.gguf"
PAYLOAD = b"GGUF" + bytes(range(256)) * 800


class Hub:
    """Serves one file as the hub does: large files have their SHA-256 as entity tag, and come from elsewhere."""

    def __init__(self, payload=PAYLOAD):
        self.payload, self.requests = payload, []
        self.status, self.error, self.etag, self.cut = 200, "", hashlib.sha256(payload).hexdigest(), None
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                hub.requests.append((self.command, self.path, self.headers.get("Range")))
                if self.path == PATH and hub.status == 200:
                    self.reply(302, b"", Location=f"{hub.cdn}/cdn/file", X_Linked_Size=len(hub.payload),
                               X_Linked_Etag=f'"{hub.etag}"', X_Repo_Commit="c" * 40, ETag='"elsewhere"')  # fmt: skip
                elif self.path == "/cdn/file":
                    given = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
                    start = int(given[1]) if given else 0
                    span = f"bytes {start}-{len(hub.payload) - 1}/{len(hub.payload)}"
                    ranged = {"Content_Range": span} if given else {}
                    self.reply(206 if given else 200, hub.payload[start:], cut=hub.cut, **ranged)
                else:
                    self.reply(hub.status if self.path == PATH else 404, b"", X_Error_Code=hub.error or "EntryNotFound")

            do_HEAD = do_GET

            def reply(self, status, body, cut=None, **headers):
                self.send_response(status)
                for name, value in {"Content-Length": len(body), **headers}.items():
                    self.send_header(name.replace("_", "-"), str(value))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body[:cut])
                    self.close_connection = cut is not None

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.cdn = self.url.replace("127.0.0.1", "localhost")  # another host, as the real one is

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def hub(private_cache):
    shutil.rmtree(hub_file(MODEL).parent, ignore_errors=True)
    with Hub() as hub:
        yield hub
    shutil.rmtree(hub_file(MODEL).parent, ignore_errors=True)


class TestFetching:
    def test_whole_and_then_here(self, hub):
        seen = []
        path = hub_weights(MODEL, lambda done, total: seen.append((done, total)), endpoint=hub.url)
        assert path.name == "small-rat-Q4_K_M.gguf"
        assert path.read_bytes() == PAYLOAD
        assert seen[-1] == (len(PAYLOAD), len(PAYLOAD))
        asked = len(hub.requests)
        assert hub_weights(MODEL, endpoint=hub.url) == path
        assert hub_weights(MODEL, download=False) == path
        assert len(hub.requests) == asked

    def test_resumed(self, hub):
        hub.cut = 70_000

        def once(done, total):
            if done == 70_000:
                hub.cut = 0  # from now on nothing comes

        with pytest.raises(ModelError, match="70,000 of 204,804 bytes are kept"):
            hub_weights(MODEL, once, endpoint=hub.url)
        hub.cut = None
        assert hub_weights(MODEL, endpoint=hub.url).read_bytes() == PAYLOAD
        assert hub.requests[-1] == ("GET", "/cdn/file", "bytes=70000-")

    def test_damaged(self, hub):
        hub.etag = "0" * 64
        with pytest.raises(ModelError, match="came in damaged"):
            hub_weights(MODEL, endpoint=hub.url)
        assert not hub_file(MODEL).exists()

    @pytest.mark.parametrize(
        ("status", "error", "message"),
        [
            (404, "RepoNotFound", "has no model rats/Small-Rat-GGUF, or it is private"),
            (404, "EntryNotFound", "rats/Small-Rat-GGUF has no file small-rat-Q4_K_M.gguf"),
            (403, "GatedRepo", "asks to accept its terms first"),
            (418, "Teapot", "HTTP 418"),
        ],
    )
    def test_what_the_hub_refuses(self, hub, status, error, message):
        hub.status, hub.error = status, error
        with pytest.raises(ModelError, match=message):
            hub_weights(MODEL, endpoint=hub.url)

    def test_no_checksum(self, hub):
        hub.etag = "abc"
        with pytest.raises(ModelError, match="publishes no checksum"):
            hub_weights(MODEL, endpoint=hub.url)

    def test_nobody_there(self, private_cache):
        with pytest.raises(ModelError, match=r"127\.0\.0\.1:9 cannot be asked"):
            hub_weights(MODEL, endpoint="http://127.0.0.1:9")

    def test_not_allowed_to(self, private_cache):
        with pytest.raises(ModelError, match="may not be downloaded"):
            open_client(Options(hub=MODEL, download=False), print)


class TestNames:
    @pytest.mark.parametrize(
        "name", ["hf:", "hf:a", "hf:a/b", "hf:a/b:c.bin", "hf:../x:a.gguf", "hf:a/..:a.gguf", "hf:a/b:../../x.gguf",
                 "hf:a/b:/etc/x.gguf", "hf:a/b:x\0.gguf", "hf:a/b:x.gguf\n"],
    )  # fmt: skip
    def test_that_are_none(self, name):
        with pytest.raises(ModelError, match=r"write hf:OWNER/REPO:FILE\.gguf"):
            hub_file(name)

    def test_file_in_a_folder(self):
        """Another folder's file of that name is another file."""
        assert hub_file("hf:a/b:Q4/x.gguf").parts[-3:] == ("a--b", "Q4", "x.gguf")

    def test_known_ones(self, capsys):
        before = signal.getsignal(signal.SIGTERM)
        assert main(["model", "list", "--json"]) == 0
        signal.signal(signal.SIGTERM, before)
        listed = json.loads(capsys.readouterr().out)
        assert [each["name"] for each in listed] == [each.name for each in KNOWN_MODELS]
        assert all(hub_file(each["name"]) and each["licence"] == "Apache-2.0" for each in listed)

    def test_options(self, tmp_path):
        import argparse

        from ratsearch_lib.cli.options import add_options, choose

        parser = argparse.ArgumentParser()
        add_options(parser)
        environ = {"OPENAI_BASE_URL": "http://elsewhere/v1"}
        chosen = choose(parser.parse_args(["--model", MODEL]), environ, tmp_path)
        assert (chosen.hub, chosen.model, chosen.endpoint) == (MODEL, None, None)
        chosen = choose(parser.parse_args(["--model", MODEL, "--endpoint", "x:1"]), environ, tmp_path)
        assert (chosen.hub, chosen.model) == (None, MODEL)
        with pytest.raises(RatsearchError, match="names no model file"):
            choose(parser.parse_args(["--model", "hf:x"]), environ, tmp_path)
