"""HTML → Markdown, with everything on the page that a reader would see: nothing of a document may be lost.

(`article/` leaves out what is no part of an encyclopedia's article, which takes a wiki's conventions.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from ..article.tree import MAX_CHARS, decode, parse_tree

PART_TAGS = 60_000

_TAG = re.compile(r"</?[a-zA-Z]")
_CLOSED = re.compile(r"<(title|script|style|textarea|iframe|noscript|a|p|div|span|td|th|li)\b([^<>]*)/>")  # as XML may
_HIDDEN = frozenset(
    """script style noscript template svg iframe object embed applet canvas head title nav input button select textarea
    audio video map datalist dialog base link meta""".split()
)
_BLOCKS = frozenset(
    """p div section article main header footer aside address center details summary fieldset legend form figure
    figcaption dl dt dd ul ol li table caption thead tbody tfoot tr blockquote pre hr body html hgroup h1 h2 h3 h4 h5
    h6""".split()
)
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_APART = frozenset("p table ul ol dl pre blockquote h1 h2 h3 h4 h5 h6 section article figure hr".split())
_SPACE = re.compile(r"[ \t\r\n\f\v\xa0]+")
_STYLE = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)


def read_page(page: str | bytes) -> str:
    """The text of a page; its title leads, unless a heading says the same.

    >>> read_page("<title>Owls</title><p>They <b>hunt</b>.<ul><li>mice<li>rats</ul>")
    '# Owls\\n\\nThey hunt.\\n\\n- mice\\n- rats'
    """
    html = (page if isinstance(page, str) else decode(page)).replace("\0", "")
    if html.lstrip()[:5] == "<?xml":
        html = _CLOSED.sub(r"<\1\2></\1>", html)
    heading, texts = "", []
    for part in _parts(html):
        tree = parse_tree(part)
        root = tree.body or tree.root
        texts.append(_Writer().write(root) if root is not None else "")
        if len(texts) == 1 and (title := tree.css_first("title")) is not None:
            heading = _SPACE.sub(" ", title.text()).strip()
    text = "\n\n".join(each for each in texts if each)
    return f"# {heading}\n\n{text}".strip() if heading and heading not in text[:1000] else text


def _parts(html: str) -> Iterator[str]:
    """The page in pieces that the parser takes whole; next to all pages are one."""
    tags = [tag.start() for tag in _TAG.finditer(html)]
    if len(html) < MAX_CHARS and len(tags) < PART_TAGS:
        yield html
        return
    start = 0
    for end in (*tags[PART_TAGS::PART_TAGS], len(html)):
        for at in range(start, end, MAX_CHARS):
            yield html[at : min(end, at + MAX_CHARS)]
        start = end


class _Writer:
    """One walk over the tree, without recursion."""

    def __init__(self):
        self._done: list[str] = []
        self._line: list[str] = []
        self._gap = ""  # what comes before the next line

    def write(self, root: LexborNode) -> str:
        depth, node = 0, root
        while node is not None:
            if self._enter(node, node.tag):
                node, depth = node.first_child, depth + 1
                continue
            while depth and node.next is None:
                node, depth = node.parent, depth - 1
                self._close(node.tag)
            node = node.next if depth else None
        self._break()
        return "".join(self._done).strip("\n")

    def _enter(self, node: LexborNode, tag: str | None) -> bool:
        """Write what begins here. Returns whether there are children to see."""
        if tag == "-text":
            self._line.append(_SPACE.sub(" ", node.text_content or ""))
            return False
        if not tag or tag[0] in "-!" or tag in _HIDDEN or _is_hidden(node):
            return False
        if tag == "pre":
            self._break("\n\n")
            self._emit(f"```\n{node.text().strip(chr(10))}\n```", "\n\n")
            return False
        if tag in _BLOCKS:
            self._break("\n\n" if tag in _APART else "\n")
            if tag == "li":
                self._line = ["- "]
            elif tag in _HEADINGS:
                self._line = ["#" * int(tag[1]) + " "]
        elif tag == "br":
            self._break("\n")
        if node.first_child is not None:
            return True
        self._close(tag)
        return False

    def _close(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._break("\n\n" if tag in _APART else "\n")
        elif tag in ("td", "th"):
            self._line.append(" | ")

    def _break(self, gap: str = "") -> None:
        """End the line. A bullet waits for its text."""
        text = _SPACE.sub(" ", "".join(self._line)).strip(" ").removesuffix(" |")
        if text == "-":
            self._line = ["- "]
            return
        self._line = []
        if text.strip("#| "):
            self._emit(text, gap)
        else:
            self._gap = max(self._gap, gap)

    def _emit(self, text: str, gap: str) -> None:
        self._done += (self._gap, text)
        self._gap = gap


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    style = attributes.get("style")
    return "hidden" in attributes or (style is not None and _STYLE.search(style) is not None)
