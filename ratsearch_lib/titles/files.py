"""Files of numbers and text that are read through memory maps: memory is used for the pages that are read."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import BinaryIO


class Numbers:
    """A file of fixed-width numbers, mapped: memory is used for the pages that are read."""

    def __init__(self, path: Path, typecode: str):
        self._map = map_file(path)
        self._view = memoryview(self._map).cast(typecode)

    def __len__(self) -> int:
        return len(self._view)

    def __getitem__(self, i: int) -> int:
        return self._view[i]

    def close(self) -> None:
        self._view.release()
        close_map(self._map)


def map_file(path: Path) -> mmap.mmap | bytes:
    """The file's bytes, read where and when they are needed."""
    with open(path, "rb") as file:
        if not os.path.getsize(path):
            return b""
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_RANDOM"):
        mapped.madvise(mmap.MADV_RANDOM)
    return mapped


def close_map(mapped: mmap.mmap | bytes) -> None:
    if isinstance(mapped, mmap.mmap):
        mapped.close()


def close_synced(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
    file.close()


def write_synced(path: Path, content: bytes | bytearray) -> None:
    with open(path, "wb") as file:
        file.write(content)
        close_synced(file)
