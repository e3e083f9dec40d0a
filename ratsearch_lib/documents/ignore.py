"""`.ragignore`: which files to leave out, by the rules of `.gitignore` (https://git-scm.com/docs/gitignore).

Patterns and names are compared as bytes, as git compares them, so that both always agree. A folder's rules hold for all
that is under it; of several that match, the last one of the deepest folder decides.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

IGNORE_FILE = ".ragignore"
MAX_BYTES = 1_000_000

_LITERAL = re.compile(rb"[^*?\[\\]*")
_CLASSES = {
    b"alnum": b"a-zA-Z0-9", b"alpha": b"a-zA-Z", b"blank": rb" \t", b"cntrl": rb"\x00-\x1f\x7f", b"digit": b"0-9",
    b"graph": b"!-~", b"lower": b"a-z", b"print": b" -~", b"punct": rb"!-/:-@\[-`{-~", b"space": rb" \t-\r",
    b"upper": b"A-Z", b"xdigit": b"0-9a-fA-F",
}  # fmt: skip


class _NeverMatches(ValueError):
    """A pattern that is broken off: git lets it match nothing."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file.

    keeps         it began with "!": what it matches is kept
    only_folders  it ended with "/"
    whole_path    it holds a "/": it is compared with the path from its folder on, else with the name
    """

    pattern: re.Pattern[bytes]
    keeps: bool
    only_folders: bool
    whole_path: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that hold in a folder: its own, and those of the folders above it up to the root.

    stack  for each folder with rules, outermost first: how many bytes of a path lead to it, and the rules
    """

    stack: tuple[tuple[int, tuple[Rule, ...]], ...] = ()

    def inside(self, folder: bytes, text: bytes) -> Rules:
        """The rules in `folder` (relative to the root, ending with "/", or empty), whose ignore file says `text`."""
        return Rules((*self.stack, (len(folder), parse(text))))

    def ignores(self, path: bytes, is_folder: bool) -> bool:
        """Whether `path` (relative to the root) is left out. What is in an ignored folder is, too, and is not asked."""
        name = path[path.rfind(b"/") + 1 :]
        for start, rules in reversed(self.stack):
            below = path[start:]
            for rule in reversed(rules):
                if rule.only_folders and not is_folder:
                    continue
                if rule.pattern.fullmatch(below if rule.whole_path else name):
                    return not rule.keeps
        return False


def read_rules(folder: str | Path) -> bytes | None:
    """What the ignore file in `folder` says; None if it has none. OSError if that cannot be known."""
    path = os.path.join(folder, IGNORE_FILE)
    try:
        if not os.path.isfile(path):  # also not a pipe, which would be waited for
            os.stat(path)
            return None
    except FileNotFoundError:
        return None
    with open(path, "rb") as file:
        text = file.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise OSError(f"its {IGNORE_FILE} is larger than {MAX_BYTES:,} bytes")
    return text


@lru_cache(maxsize=256)
def parse(text: bytes) -> tuple[Rule, ...]:
    """The rules of an ignore file, in order.

    >>> [(rule.keeps, rule.only_folders) for rule in parse(b"# drafts\\n*.tmp\\n!keep.tmp\\nbuild/\\n")]
    [(False, False), (True, False), (False, True)]
    """
    found = []
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        line = line.removesuffix(b"\r").partition(b"\0")[0]
        if line.startswith(b"#"):
            continue
        line = _without_trailing_spaces(line)
        keeps = line.startswith(b"!")
        line = line[1:] if keeps else line
        only_folders = line.endswith(b"/")
        line = line[:-1] if only_folders else line
        whole_path = b"/" in line
        if not line:
            continue
        try:
            found.append(Rule(_compiled(line, whole_path), keeps, only_folders, whole_path))
        except _NeverMatches:
            continue
    return tuple(found)


def _without_trailing_spaces(line: bytes) -> bytes:
    """Spaces at the end do not count unless a backslash stands before them."""
    at, last = 0, None
    while at < len(line):
        if line[at : at + 1] == b" ":
            last = at if last is None else last
        elif line[at : at + 1] == b"\\":
            at += 1
            if at >= len(line):
                return line
            last = None
        else:
            last = None
        at += 1
    return line if last is None else line[:last]


def _compiled(pattern: bytes, whole_path: bool) -> re.Pattern[bytes]:
    pattern = pattern.removeprefix(b"/") if whole_path else pattern
    # git compares what comes before the first special character by itself: a "**" after it stands at a beginning.
    literal = _LITERAL.match(pattern)[0]
    try:
        return re.compile(re.escape(literal) + _translated(pattern[len(literal) :], whole_path), re.S)
    except re.error as error:
        raise _NeverMatches from error


def _translated(pattern: bytes, whole_path: bool) -> bytes:
    """A pattern as a regular expression. In one for whole paths only "**" reaches across a "/"."""
    out, at, size = [], 0, len(pattern)
    any_char = b"[^/]" if whole_path else b"."
    while at < size:
        char = pattern[at : at + 1]
        if char == b"*":
            end = at
            while pattern[end : end + 1] == b"*":
                end += 1
            opens = at == 0 or pattern[at - 1 : at] == b"/"
            if end - at < 2 or not whole_path or not opens:
                out.append(any_char + b"*")
            elif end == size:
                out.append(b".*")
            elif pattern[end : end + 1] == b"/":
                out.append(b"(?:.*/)?")
                end += 1
            else:
                out.append(any_char + b"*")
            at = end
        elif char == b"?":
            out.append(any_char)
            at += 1
        elif char == b"[":
            group, at = _group(pattern, at + 1)
            out.append((b"(?!/)" if whole_path else b"") + group)
        else:
            if char == b"\\":
                at += 1
                if at == size:
                    raise _NeverMatches
            out.append(re.escape(pattern[at : at + 1]))
            at += 1
    return b"".join(out)


def _group(pattern: bytes, at: int) -> tuple[bytes, int]:
    """A bracket expression whose "[" is before `at`, as a regular expression, and where it ends."""
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    parts: list[bytes] = []
    previous = b""  # what a range would begin with
    first = True
    while first or pattern[at : at + 1] != b"]":
        char, first = pattern[at : at + 1], False
        if not char:
            raise _NeverMatches
        if char == b"[" and pattern[at + 1 : at + 2] == b":":
            end = pattern.find(b"]", at + 2)
            if end < 0:
                raise _NeverMatches
            if end - 1 > at + 1 and pattern[end - 1 : end] == b":":
                parts.append(_CLASSES.get(pattern[at + 2 : end - 1]) or _never())
                at, previous = end + 1, b""
                continue
        elif char == b"-" and previous and pattern[at + 1 : at + 2] not in (b"]", b""):
            last, at = _char(pattern, at + 1)
            if previous <= last:
                parts.append(re.escape(previous) + b"-" + re.escape(last))
            previous = b""
            continue
        previous, at = _char(pattern, at)
        parts.append(re.escape(previous))
    inside = b"".join(parts)
    if not inside:
        return (b"." if negated else b"(?!)"), at + 1
    return (b"[^" if negated else b"[") + inside + b"]", at + 1


def _char(pattern: bytes, at: int) -> tuple[bytes, int]:
    """The character at `at`, or the one behind the backslash there, and where the next one is."""
    at += pattern[at : at + 1] == b"\\"
    if at >= len(pattern):
        raise _NeverMatches
    return pattern[at : at + 1], at + 1


def _never() -> bytes:
    raise _NeverMatches
