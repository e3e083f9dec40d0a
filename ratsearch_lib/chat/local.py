"""LocalServer: llama.cpp's own server, out of the xllamacpp wheel, in a child process of ours.

A process of its own, because in this one it would hold the interpreter's lock while it loads and delay exit by
30 s while a request runs. Run as a program (`python -m ratsearch_lib.chat.local`), this file is that child: it
reads its settings as one line of JSON, answers with one line once it listens, and ends with its standard input,
so also when its parent is killed.
"""

from __future__ import annotations

import collections
import contextlib
import importlib.util
import json
import os
import queue
import re
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

from ..errors import ModelError
from .weights import EMBEDDED_MODEL, EMBEDDED_SIZE_BYTES, embedded_weights

__all__ = ["EMBEDDED_MODEL", "EMBEDDED_SIZE_BYTES", "LocalServer", "embedded_weights"]

PROJECT = Path(__file__).resolve().parents[2]  # where the child finds this package
FIT_BYTES = 1_000_000_000  # fitting a model to the memory of a GPU takes as long as loading it: not for small ones
_LOG_LINES = 60
_CLOSE_TIMEOUT_S = 2.0
_LOOK_EVERY_S = 0.2  # Windows lets Ctrl-C through only between two waits


class LocalServer:
    """A chat server of one GGUF file, on this machine and for this program alone, until closed.

    gguf           the model's file
    n_ctx          context window in tokens (llama.cpp caps it at what the model was trained for)
    chat_template  a Jinja file, to be used instead of the model's own template

    Returns once the server listens; ModelError says why it does not.

    >>> with LocalServer(embedded_weights()) as server:                                     # doctest: +SKIP
    ...     ChatClient(server.base_url, api_key=server.api_key).models()
    ['SmolLM2-135M-Instruct.Q4_1']
    """

    def __init__(
        self,
        gguf: str | Path,
        *,
        n_ctx: int = 8192,
        chat_template: str | Path | None = None,
        startup_timeout_s: float = 300.0,
    ):
        try:
            path = Path(gguf).resolve()
            is_file = path.is_file()
        except (OSError, RuntimeError, ValueError) as error:  # too long a name, a loop of links, NUL, a folder's rights
            raise ModelError(f"The model file {gguf} cannot be opened: give another. ({error})") from error
        if not is_file:
            raise ModelError(f"There is no model file {path}: give the path of a GGUF file.")
        if importlib.util.find_spec("xllamacpp") is None:
            raise ModelError(
                "The embedded server needs the package xllamacpp, which is not installed (there is no wheel for every "
                "platform): pip install xllamacpp, or use a server that runs (--endpoint URL)."
            )
        self.api_key = secrets.token_urlsafe(24)
        settings = {"gguf": str(path), "n_ctx": n_ctx, "api_key": self.api_key}
        if chat_template is not None:
            settings["chat_template"] = _read_template(Path(chat_template))
        self._log: collections.deque[str] = collections.deque(maxlen=_LOG_LINES)
        self._process = self._start(settings)
        try:
            self.base_url = self._wait_until_ready(path, startup_timeout_s)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> LocalServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def close(self) -> None:
        """End the server, whatever it is doing. Any number of times."""
        with contextlib.suppress(OSError):  # it has ended already
            self._process.stdin.close()
        try:
            self._process.wait(_CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join()

    def _start(self, settings: dict[str, object]) -> subprocess.Popen[str]:
        # A session of its own: Ctrl-C in the terminal stops an answer, not the server.
        windows = sys.platform == "win32"
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW if windows else 0
        process = subprocess.Popen(
            [sys.executable, "-m", "ratsearch_lib.chat.local"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            cwd=PROJECT,
            start_new_session=not windows,
            creationflags=flags,
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=_read_answer, args=(process.stdout, self._answers), daemon=True),
            threading.Thread(target=_read_log, args=(process.stderr, self._log), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        with contextlib.suppress(OSError):  # it has ended already: its log says why
            process.stdin.write(json.dumps(settings) + "\n")
            process.stdin.flush()
        return process

    def _wait_until_ready(self, path: Path, timeout_s: float) -> str:
        limit, answer = time.monotonic() + timeout_s, None
        while answer is None:
            if time.monotonic() > limit:
                raise ModelError(
                    f"The server of {path.name} did not start within {timeout_s:.0f} s: try a smaller model."
                )
            with contextlib.suppress(queue.Empty):
                answer = self._answers.get(timeout=_LOOK_EVERY_S)
        if answer:
            return json.loads(answer)["base_url"]
        self.close()
        raise ModelError(
            f"llama.cpp cannot serve {path.name}: choose another GGUF file, or a server that runs (--endpoint URL). "
            f"({_reason(list(self._log), self._process.returncode)})"
        )


def _read_template(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ModelError(f"The chat template {path} cannot be read: give a Jinja file in UTF-8. ({error})") from error


def _read_answer(stdout: IO[str], answers: queue.SimpleQueue[str]) -> None:
    with stdout:
        answers.put(stdout.readline())  # empty: the child ended first
        stdout.read()


def _read_log(stderr: IO[str], log: collections.deque[str]) -> None:
    with stderr:
        log.extend(line.rstrip() for line in stderr)


def _reason(log: list[str], status: int) -> str:
    """Why the child ended: llama.cpp's first error, else Python's last line, else the exit status."""
    errors = [match[1] for line in log if (match := re.match(r"[\d.]+ E (.*)", line))]
    lines = [line for line in log if line.strip()]
    if errors:
        return " ".join(errors[0].split())
    if lines:
        return lines[-1]
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"it ended with status {status}"


def _serve() -> None:
    """The child: load, say where it listens, go on until standard input ends."""
    settings = json.loads(sys.stdin.readline())
    _end_with_stdin()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever llama.cpp prints belongs into the log

    import xllamacpp

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    params = xllamacpp.CommonParams()
    params.model.path = settings["gguf"]
    params.model_alias = {Path(settings["gguf"]).stem}
    params.chat_template = settings.get("chat_template", "")
    params.use_jinja = True
    params.n_ctx = settings["n_ctx"]
    params.n_parallel = 2  # guided mode's two prompts each find their own beginning in the cache
    params.kv_unified = True  # and each may still fill the window
    params.n_batch = params.n_ubatch = 128  # it notices a closed connection only between batches
    params.cpuparams.n_threads = max(1, cores - 1)  # with all, others that run make generation crawl
    params.cpuparams_batch.n_threads = cores
    params.cache_ram_mib = 0
    params.warmup = False  # the first question does that
    params.fit_params = Path(settings["gguf"]).stat().st_size > FIT_BYTES
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # a free one
    params.api_keys = [settings["api_key"]]
    params.cors_origins = ""
    params.ui = False
    params.verbosity = 1  # errors alone; 0 would not say why a model cannot be loaded
    server = xllamacpp.Server(params)  # returns when the model is loaded

    answers.write(json.dumps({"base_url": f"{server.listening_address}/v1"}) + "\n")
    answers.flush()
    sys.stdin.read()
    os._exit(0)  # the ordinary way out waits for a running request


def _end_with_stdin() -> None:
    """Have the kernel end this process when standard input ends: while a model loads, no Python code runs here."""
    if hasattr(os, "O_ASYNC"):
        import fcntl

        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([0], [], [], 0)[0]:  # it ended before that
            os._exit(0)


if __name__ == "__main__":
    _serve()
