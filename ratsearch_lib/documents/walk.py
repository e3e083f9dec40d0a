"""Which files a path names: those of a folder and the folders in it that may be read, and why others are not."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from .ignore import Rules, read_rules

VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file."""

    path: str
    status: os.stat_result


@dataclass(frozen=True, slots=True)
class Skipped:
    """What was not read, and why. hides: what it had, or has below it, may still be there: nothing says it is gone."""

    path: str
    reason: str
    hides: bool = False


def walk(root: str) -> Iterator[Found | Skipped]:
    """The files at or below `root` (absolute, links resolved), folder by folder, by name; links are not followed.

    What `.ragignore` files from `root` down leave out does not come, nor do the folders of version control.
    """
    try:
        status = os.lstat(root)
    except OSError as error:
        yield Skipped(root, _reason(error), hides=True)
        return
    if stat.S_ISDIR(status.st_mode):
        yield from _walk_folder(root)
    else:
        yield _told(root, status)


def _walk_folder(root: str) -> Iterator[Found | Skipped]:
    pending: list[tuple[str, bytes, Rules]] = [(root, b"", Rules())]
    while pending:
        folder, relative, rules = pending.pop()
        try:
            text = read_rules(folder)
            if text is not None:
                rules = rules.inside(relative, text)
            with os.scandir(folder) as entries:
                entries = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:  # without its rules, what it would leave out is not known
            yield Skipped(folder, _reason(error), hides=True)
            continue
        folders = []
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError as error:
                yield Skipped(entry.path, _reason(error), hides=True)
                continue
            is_folder = stat.S_ISDIR(status.st_mode)
            path = relative + os.fsencode(entry.name)
            if (is_folder and entry.name in VERSION_CONTROL) or rules.ignores(path, is_folder):
                continue
            if is_folder:
                folders.append((entry.path, path + b"/", rules))
            else:
                yield _told(entry.path, status)
        pending += reversed(folders)


def _told(path: str, status: os.stat_result) -> Found | Skipped:
    if stat.S_ISREG(status.st_mode):
        return Found(path, status)
    if stat.S_ISLNK(status.st_mode):
        return Skipped(path, "a symbolic link (not followed)")
    return Skipped(path, next((what for test, what in _KINDS if test(status.st_mode)), "no regular file"))


def _reason(error: OSError) -> str:
    return f"cannot be read ({error.strerror or error})"


def read_file(path: str, max_bytes: int) -> tuple[bytes, os.stat_result]:
    """The content of a regular file and its status when it was read. OSError also if it is none, or larger."""
    # Whatever was put in its place meanwhile is not waited for, and not followed.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is no regular file any more")
        data = file.read(max_bytes + 1)
    return data, status
