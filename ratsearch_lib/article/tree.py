"""From bytes that may be anything to a tree that is safe to walk.

The parser is lexbor. Its time grows with the square of the nesting depth and of the formatting elements left open,
and its tree takes about a hundred times the tags' number in bytes: the markup is measured first, in one pass over
its tags, and what goes beyond the limits is taken out before it is parsed.
"""

from __future__ import annotations

import re
from itertools import accumulate

from selectolax.lexbor import LexborHTMLParser

from .rules import names

MAX_CHARS = 6_000_000  # the largest real page seen has 4.1 million
MAX_TAGS = 250_000
MAX_DEPTH = 400
MAX_OPEN_FORMATS = 40

_TAG = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9]*)")
_WHOLE_TAG = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9]*)[^>]*>?")
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.I)
_LONG_TAG = re.compile(r"<[^<>]{20000,}")
_VOID = names("area base br col embed hr img input link meta param source track wbr")
# Closed by their like or by their parent's end: left open, they do not nest.
_SELF_CLOSING = names("p li dd dt tr td th thead tbody tfoot option")
_FORMATS = names("a b big code em font i nobr s small strike strong tt u")


def decode(html: str | bytes) -> str:
    """The text of a page: UTF-8 where it can be, else the character set that it names, else Windows-1252."""
    if not isinstance(html, str):
        html = _decode(bytes(html[: MAX_CHARS * 3]))
    html = html[:MAX_CHARS]
    if not html.isascii():
        html = html.encode("utf-8", "replace").decode("utf-8")  # lone surrogates
    return html.replace("\x00", "")


def _decode(html: bytes) -> str:
    if html[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return html.decode("utf-16", "replace")
    html = html.removeprefix(b"\xef\xbb\xbf")
    try:
        return html.decode("utf-8")
    except UnicodeDecodeError:
        text = html.decode("utf-8", "replace")
    if text.count("\ufffd") * 20 < len(html) - len(html.translate(None, bytes(range(128, 256)))):
        return text  # UTF-8 with a damaged place or two
    named = _CHARSET.search(html[:4096])
    for name in (named[1].decode("ascii") if named else "windows-1252", "windows-1252"):
        try:
            return html.decode(name, "replace")
        except (LookupError, UnicodeError):
            continue
    return text


def parse_tree(html: str) -> LexborHTMLParser:
    """A lexbor tree of `html` (decoded), no deeper and no larger than the limits above."""
    return LexborHTMLParser(_within_limits(html))


class _Steps(dict):
    """How each tag changes the depth: looked up per tag, worked out once per name."""

    def __missing__(self, tag: str) -> int:
        name = tag.lstrip("/").lower()
        step = 0 if name in _VOID or name in _SELF_CLOSING else -1 if tag[0] == "/" else 1
        self[tag] = step
        return step


class _FormatSteps(dict):
    def __missing__(self, tag: str) -> int:
        step = (-1 if tag[0] == "/" else 1) if tag.lstrip("/").lower() in _FORMATS else 0
        self[tag] = step
        return step


def _down(depth: int, step: int) -> int:
    return depth + step if depth + step > 0 else 0


def _within_limits(html: str) -> str:
    html = _LONG_TAG.sub("<", html)
    tags = _TAG.findall(html)
    if len(tags) > MAX_TAGS:
        for n, tag in enumerate(_TAG.finditer(html)):
            if n == MAX_TAGS:
                html, tags = html[: tag.start()], tags[:MAX_TAGS]
                break
    if len(tags) > MAX_DEPTH and max(accumulate(map(_Steps().__getitem__, tags), _down)) > MAX_DEPTH:
        html = _without(html, _Steps(), MAX_DEPTH)
    if (
        len(tags) > MAX_OPEN_FORMATS
        and max(accumulate(map(_FormatSteps().__getitem__, tags), _down)) > MAX_OPEN_FORMATS
    ):
        html = _without(html, _FormatSteps(), MAX_OPEN_FORMATS)
    return html


def _without(html: str, steps: dict[str, int], limit: int) -> str:
    """`html` without the tags that lead deeper than `limit`."""
    depth = 0

    def keep(tag: re.Match) -> str:
        nonlocal depth
        step = steps[tag[1]]
        depth = _down(depth, step)
        return " " if step and depth + (step < 0) > limit else tag[0]

    return _WHOLE_TAG.sub(keep, html)
