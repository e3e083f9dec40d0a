"""The page: how soon it is there, what memory it takes, how far it lags behind a fast answer in a long conversation.

    python -m benchmarks.app [--json]

A server started here streams 500 deltas, 100 a second, after one reading of an article of 65,535 characters (of which
the model is given what answers best); app.py runs as a child process and headless Chromium looks at it.

start_s              from `python app.py` until the page is served and what it answers with is open
page_s               from the page's load event until it says what is loaded, the median of five visitors with nothing
                     cached; visit_s: from the address on; first_visit_s: with what a server does once
lag_20_s, lag_200_s  from the last delta's sending until the page shows the answer whole, in a conversation of so many
                     messages; frame_…_ms: the page's longest pause meanwhile
chat_s               what the same answer takes that is only received, not shown: five seconds

Needs Debian's chromium and playwright.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

from ratsearch_lib.ui import kept
from ratsearch_lib.ui.conversation import Turn
from ratsearch_lib.view import Panel
from tests.conformance.server import finish, text, tool_call
from tests.zims import make_archive

ROOT = Path(__file__).resolve().parent.parent
DELTAS, PER_S, LAST = 500, 100, "word499."
ARTICLE = "<h1>Long</h1>" + "".join(f"<p>{'A rat sleeps in wool and eats grain. ' * 8}{n}</p>" for n in range(220))
WATCH = """() => { window.longest = 0; let last = performance.now();
const look = (now) => {
window.longest = Math.max(window.longest, now - last); last = now; requestAnimationFrame(look); };
requestAnimationFrame(look); }"""


class Server(BaseHTTPRequestHandler):
    """One reading, then the deltas."""

    last_sent = 0.0

    def do_GET(self):
        self._head("application/json")
        self.wfile.write(b'{"data": [{"id": "paced", "object": "model"}]}' if self.path.endswith("/models") else b"{}")

    def do_POST(self):
        if not self.path.endswith("/chat/completions"):
            self.send_error(404)
            return
        messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        self._head("text/event-stream")
        if messages[-1]["role"] == "user":
            self._send(*tool_call("read_article", {"title": "Long"}), finish("tool_calls"))
            return
        start = time.perf_counter()
        for number in range(DELTAS):
            time.sleep(max(0, start + number / PER_S - time.perf_counter()))
            self._send(text(f"word{number}." if number == DELTAS - 1 else f"word{number} "))
        Server.last_sent = time.perf_counter()
        self._send(finish())
        self.wfile.write(b"data: [DONE]\n\n")

    def _head(self, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.end_headers()

    def _send(self, *events: dict) -> None:
        for event in events:
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_: object) -> None:
        pass


def conversation(messages: int) -> str:
    """A kept conversation, each answer of which has read something."""
    turns, said = [], []
    for number in range(messages // 2):
        answer = f"Answer {number}: " + "rats sleep in **wool** and eat grain; " * 10
        said = [*said, {"role": "user", "content": f"Question {number}?"}, {"role": "assistant", "content": answer}]
        result = Panel("result", "result-2", "Read: Rat", "A rat sleeps. " * 100, "done", parent="tool-1")
        panels = [Panel("tool", "tool-1", "read_article | Rat", "{}", "done"), result]
        turns.append(
            Turn(f"Question {number}?", said, [*panels, Panel("answer", "answer-3", body=answer, state="done")])
        )
    return kept.to_json(f"{messages:032x}", turns)


def visit(browser, url: str) -> tuple:
    """(page, seconds from the address until it is ready, and those from its load event), with nothing cached."""
    page = browser.new_context().new_page()
    page.set_default_timeout(180_000)
    start = time.perf_counter()
    page.goto(url)
    loaded = time.perf_counter()
    page.get_by_text("on this machine").wait_for()
    ready = time.perf_counter()
    return page, ready - start, ready - loaded


def measure() -> dict[str, float]:
    from playwright.sync_api import sync_playwright

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}/v1"
    with TemporaryDirectory() as folder, sync_playwright() as play:
        archive = Path(folder) / "long.zim"
        make_archive(archive, [("Main", "Main", "<h1>Main</h1><p>Text.</p>"), ("Long", "Long", ARTICLE)])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "app.py", "--zim", str(archive), "--endpoint", endpoint, "--port", str(port)]
        start = time.perf_counter()
        app = subprocess.Popen([*command, "--context", "131072"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            next(line for line in app.stdout if line.startswith("http"))
            figures = {"start_s": time.perf_counter() - start}
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            url = f"http://127.0.0.1:{port}/"
            figures["first_visit_s"] = visit(browser, url)[1]
            visits = [visit(browser, url)[1:] for _ in range(5)]
            figures["visit_s"], figures["page_s"] = (median(seconds) for seconds in zip(*visits, strict=True))
            for messages in (20, 200):
                page = visit(browser, url)[0]
                page.locator("#kept input[type=file]").set_input_files(
                    {"name": "c.json", "mimeType": "application/json", "buffer": conversation(messages).encode()}
                )
                page.get_by_text(f"Question {messages // 2 - 1}?").first.wait_for()
                page.evaluate(WATCH)
                page.locator("#box textarea").fill("How do rats sleep?")
                start = time.perf_counter()
                page.locator("#box textarea").press("Enter")
                page.get_by_text(LAST).wait_for()
                page.locator("#box .submit-button").wait_for()
                now = time.perf_counter()
                figures[f"lag_{messages}_s"] = now - Server.last_sent
                figures[f"frame_{messages}_ms"] = page.evaluate("window.longest")
                page.context.close()
            status = Path(f"/proc/{app.pid}/status").read_text("utf-8")
            figures["rss_mb"] = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
            body = json.dumps({"messages": [{"role": "tool", "content": ""}]}).encode()
            start = time.perf_counter()
            with urlopen(Request(f"{endpoint}/chat/completions", body)) as reply:
                reply.read()
            figures["chat_s"] = time.perf_counter() - start
            return figures
        finally:
            app.terminate()
            app.wait(20)
            server.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.app")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    figures = {name: round(value, 2) for name, value in measure().items()}
    if args.json:
        print(json.dumps(figures))
        return
    limits = {"start_s": 6, "page_s": 2, "lag_20_s": 8, "lag_200_s": 12, "rss_mb": 250}
    for name, value in figures.items():
        print(f"{name:13} {value:9.2f}" + (f"   (at most {limits[name]})" if name in limits else ""))


if __name__ == "__main__":
    main()
