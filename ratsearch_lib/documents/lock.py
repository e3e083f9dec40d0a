"""One writer at a time: the second waits, then says who holds the lock."""

from __future__ import annotations

import json
import os
import platform
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import DocumentStoreError

_LOOK_EVERY_S = 0.05
_HOLDER_BYTES = 1000


@contextmanager
def writing(store: Path, wait_s: float) -> Iterator[None]:
    """Be the only one who writes to `store`. DocumentStoreError, naming the holder, after `wait_s` seconds in vain.

    The lock is on a file beside the store. The system takes it from a process that ends, however it ends.
    """
    path = store.with_name(store.name + ".lock")
    try:
        file = open(path, "a+b")  # noqa: SIM115, closed below
    except OSError as error:
        raise DocumentStoreError(
            f"{store} cannot be written ({error.strerror}): use another with --db, or make its folder writable."
        ) from error
    with file:
        give_up, pause = time.monotonic() + wait_s, threading.Event()
        while not _take(file):
            if time.monotonic() >= give_up:
                raise DocumentStoreError(f"{store} is being written by {_holder(file)}: try again when that is done.")
            pause.wait(_LOOK_EVERY_S)
        _say_who(file)
        try:
            yield
        finally:
            file.truncate(0)
            _give(file)


def _say_who(file: IO[bytes]) -> None:
    who = {"pid": os.getpid(), "host": platform.node(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    file.truncate(0)
    file.write(json.dumps(who).encode())
    file.flush()


def _holder(file: IO[bytes]) -> str:
    file.seek(0)
    try:
        who = json.loads(file.read(_HOLDER_BYTES))
        return f"process {int(who['pid'])} on {str(who['host'])[:80]!r} since {str(who['since'])[:30]}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


if os.name == "nt":
    import msvcrt

    _FAR = 1 << 30  # beyond what is written: others may still read that

    def _take(file: IO[bytes]) -> bool:
        file.seek(_FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _give(file: IO[bytes]) -> None:
        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _give(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
