"""From bytes that may be anything to a tree that is safe to walk.

The parser is lexbor. Its time grows with the square of the nesting depth, of the formatting elements left open and of
an element's attributes, and its tree takes some hundred bytes for each tag: the markup is measured first, and what goes
beyond the limits is taken out before it is parsed.
"""

from __future__ import annotations

import re
from itertools import islice

from selectolax.lexbor import LexborHTMLParser

from .rules import names

MAX_CHARS = 4_500_000  # the largest real pages have 4 million, and 45,000 tags
MAX_TAGS = 70_000
MAX_DEPTH = 200
MAX_SELECTS = 200
MAX_ATTRIBUTES = 300  # of an element
LONG_TAG_CHARS = 3000

_TAG = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9-]*)")
_WHOLE_TAG = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9-]*)[^<>]*>?")
_NAME = re.compile("[a-zA-Z][a-zA-Z0-9-]*")
_LONG_TAG = re.compile(rf"<[a-zA-Z][^<]{{{LONG_TAG_CHARS},}}")
_OPEN_TAG = re.compile(r"""<(?:=\s*"[^"]*"|=\s*'[^']*'|[^>])*""")  # without its ">"
_QUOTED = re.compile(r"""=\s*(?:"[^"]*"?|'[^']*'?)""")
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.I)
_VOID = names("area base br col embed hr img input link meta param source track wbr")
# Closed by the next of their kind or by their parent's end: left open, they do not nest.
_SELF_CLOSING = names("p li dd dt tr td th thead tbody tfoot option")
_FORMS = names("select option optgroup")
_FORMATS = names("a b big code em font i nobr s small strike strong tt u")


def decode(html: str | bytes) -> str:
    """The text of a page: UTF-8 where it can be, else the character set that it names, else Windows-1252."""
    if not isinstance(html, str):
        html = _decode(bytes(html[: 2 * MAX_CHARS]))
    html = html[:MAX_CHARS]
    try:
        html.encode("utf-8")
    except UnicodeEncodeError:  # lone surrogates
        html = html.encode("utf-8", "replace").decode("utf-8")
    return html.replace("\x00", "")


def _decode(html: bytes) -> str:
    if html[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return html.decode("utf-16", "replace")
    html = html.removeprefix(b"\xef\xbb\xbf")
    try:
        return html.decode("utf-8")
    except UnicodeDecodeError:
        text = html.decode("utf-8", "replace")
    if text.count("\ufffd") * 20 < sum(map(html.count, (b"\xc3", b"\xd0", b"\xe3", b"\xe4", b"\xd8", b"\xd7"))):
        return text  # UTF-8 with a damaged place or two
    named = _CHARSET.search(html[:4096])
    try:
        return html.decode(named[1].decode("ascii") if named else "windows-1252", "replace")
    except (LookupError, UnicodeError):  # no such character set, or one that is no text
        return html.decode("windows-1252", "replace")


def parse_tree(html: str) -> LexborHTMLParser:
    """A lexbor tree of `html` (decoded), no deeper and no larger than the limits above."""
    return LexborHTMLParser(_within_limits(html))


def _within_limits(html: str) -> str:
    html = _LONG_TAG.sub(_few_attributes, html)
    tags = _TAG.findall(html)
    if len(tags) > MAX_TAGS:
        last = next(islice(_TAG.finditer(html), MAX_TAGS, None))
        html, tags = html[: last.start()], tags[:MAX_TAGS]
    if tags.count("select") > MAX_SELECTS:
        html = _without(html, _FORMS)
    if _depth(tags) > MAX_DEPTH:
        html = _without(html, _FORMATS)
        if _depth(_TAG.findall(html)) > MAX_DEPTH:
            html = _without_deeper(html)
    return html


def _few_attributes(found: re.Match) -> str:
    """A long tag and the text after it: the tag without its attributes if it has more of them than any real one."""
    tag = _OPEN_TAG.match(found[0])[0]
    if len(tag) > LONG_TAG_CHARS and len(_QUOTED.sub(" ", tag).replace("/", " ").split()) >= MAX_ATTRIBUTES:
        return f"<{_NAME.search(tag)[0]}{found[0][len(tag) :]}"
    return found[0]


def _without(html: str, unwanted: frozenset[str]) -> str:
    return _WHOLE_TAG.sub(lambda tag: "" if tag[1].lstrip("/").lower() in unwanted else tag[0], html)


def _without_deeper(html: str) -> str:
    """`html` without the tags that lead deeper than MAX_DEPTH."""
    nesting = _Nesting()

    def keep(tag: re.Match) -> str:
        before = nesting.depth
        nesting.add(tag[1])
        return " " if max(before, nesting.depth) > MAX_DEPTH else tag[0]

    return _WHOLE_TAG.sub(keep, html)


class _Nesting:
    """How deep a page's tags ("div", "/div") lead, formatting elements counted tenfold: each block that follows opens
    anew those left open.

    A closing tag leads up only where its element is open: the parser passes over others.
    """

    def __init__(self) -> None:
        self.depth = self.deepest = 0
        self._open: dict[str, int] = {}
        self._kinds: dict[str, tuple[int, str]] = {}  # of a tag: the step it leads down or up, its name

    def add(self, *tags: str) -> None:
        is_open, kinds = self._open, self._kinds
        for tag in tags:
            step, name = kinds.get(tag) or self._kind(tag)
            if step > 0:
                is_open[name] = is_open.get(name, 0) + 1
                self.depth += step
                if self.depth > self.deepest:
                    self.deepest = self.depth
            elif step and is_open.get(name):
                is_open[name] -= 1
                self.depth += step

    def _kind(self, tag: str) -> tuple[int, str]:
        name = tag.lstrip("/").lower()
        step = 0 if name in _VOID or name in _SELF_CLOSING else 10 if name in _FORMATS else 1
        self._kinds[tag] = kind = (-step if tag[0] == "/" else step), name
        return kind


def depth(html: str) -> int:
    """How deep the elements of `html` are nested, formatting elements counted tenfold."""
    return _depth(_TAG.findall(html))


def _depth(tags: list[str]) -> int:
    nesting = _Nesting()
    nesting.add(*tags)
    return nesting.deepest
