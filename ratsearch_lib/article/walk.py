"""The one walk over a page's tree: blocks of Markdown under their headings, links, infobox, on the way.

The walker is the converter: an element is either left out (one look at its class, id and style), or adds to the line
that is being written (`buffer`), or ends that line and starts a block.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from . import inline, lists, rules, tables
from .inline import clean

MAX_FLAT_NODES = 200_000

BLOCKS = rules.names(
    """p div section article main header aside address center details summary fieldset legend dl dt dd ul ol li table
    tbody thead tfoot tr td th caption blockquote pre h1 h2 h3 h4 h5 h6 hr figure figcaption body html footer
    hgroup search menu dir"""
)
_HEADINGS = {"h1": 2, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_TYPED_MARK = re.compile(r"(?<=[.,;:!?”\"’])\[\d{1,3}\](?=[\s\[]|$)")  # a reference that came in as plain text
_LANGUAGE = re.compile(r"(?:mw-highlight-lang-|brush:\s*|language-|lang-|source-)([A-Za-z0-9_+#-]+)")


@dataclass(slots=True)
class Part:
    """What stands under one heading, as it is collected. `items` and `outward` count list items, and those of them
    that are citations or lead out of the archive: that tells a list of references or web links in any language."""

    level: int
    heading: str
    id: str = ""
    blocks: list[tuple[int, str]] = field(default_factory=list)  # number of the list it belongs to or 0, text
    items: int = 0
    outward: int = 0


class Walker:
    """Walks a tree once; afterwards `parts`, `infobox`, `hatnotes`, `links` hold what it found."""

    def __init__(self, titles: frozenset[str] | set[str] = frozenset()):
        self.titles = titles  # what the page is called: its <h1> is no section
        self.parts = [Part(0, "")]
        self.infobox: list[tuple[str, str]] = []
        self.hatnotes: list[str] = []
        self.links: dict[str, str] = {}
        self.is_disambiguation = False
        self.buffer: list[str] = []
        self.outward = 0  # links out of the archive and citations so far
        self.cells = 0  # table cells so far
        self.in_cell = 0
        self.indent = ""
        self.bullet = ""  # waits for the first text of its list item
        self.list = 0  # number of the list we are in, 0 outside
        self.lists = 0
        self._code_language = ""

    @property
    def in_lead(self) -> bool:
        return len(self.parts) == 1

    # ------------------------------------------------------------------------------------------ blocks
    def flush(self) -> None:
        """End the line that is being written."""
        if self.buffer:
            text = clean("".join(self.buffer))
            self.buffer = []
            if "[" in text:
                text = _TYPED_MARK.sub("", text)
            if text:
                self.emit(text)

    def emit(self, text: str) -> None:
        """Add a block, with the bullet and the indentation of where we are."""
        indent, bullet = self.indent, self.bullet
        if bullet:
            self.bullet = ""
            first = indent[: len(indent) - len(bullet)] + bullet
        else:
            first = indent
        self.parts[-1].blocks.append((self.list, first + text.replace("\n", "\n" + indent)))

    def capture(self, node: LexborNode, depth: int) -> str:
        """What the children of `node` add to a line, apart from the line that is being written."""
        outer, self.buffer = self.buffer, []
        self.children(node, depth + 1)
        inner, self.buffer = "".join(self.buffer), outer
        return inner

    def line(self, node: LexborNode, depth: int) -> str:
        """The children of `node` as one line, whatever they are."""
        self.in_cell += 1
        text = clean(self.capture(node, depth), " ")
        self.in_cell -= 1
        return text

    # -------------------------------------------------------------------------------------------- walk
    def children(self, node: LexborNode, depth: int) -> None:
        child = node.first_child
        while child is not None:
            tag = child.tag
            if tag == "-text":
                if text := child.text_content:
                    self.buffer.append(text.replace("\n", " ") if "\n" in text else text)
            elif tag and tag[0] not in "-!" and tag not in rules.SKIPPED_TAGS:
                if depth > rules.MAX_WALKED_DEPTH:
                    self.flat(child)
                else:
                    self.element(child, tag, depth)
            child = child.next

    def flat(self, node: LexborNode) -> None:
        """The text of a subtree that is too deep to recurse into."""
        stack, n = [node], 0
        while stack and n < MAX_FLAT_NODES:
            n += 1
            here = stack.pop()
            if here.tag == "-text":
                self.buffer.append((here.text_content or "").replace("\n", " "))
            elif here.tag not in rules.SKIPPED_TAGS:
                child = here.last_child
                while child is not None:
                    stack.append(child)
                    child = child.prev

    def skips(self, tag: str, attributes: dict[str, str | None]) -> bool:
        """Whether an element is none of the article."""
        if names := attributes.get("class"):
            classes = names.split()
            if not rules.SKIPPED_CLASSES.isdisjoint(classes):
                if not rules.DISAMBIGUATION_BOXES.isdisjoint(classes):
                    self.is_disambiguation = True
                return not (tag == "table" and "infobox" in classes)
            if classes and classes[0].startswith(rules.SKIPPED_CLASS_PREFIXES):
                return True
        if (id_ := attributes.get("id")) and (id_ in rules.SKIPPED_IDS or id_.startswith("cite_ref")):
            return True
        if style := attributes.get("style"):
            if rules.LICENCE_FOOTER_STYLE in style:
                return True
            if ("none" in style or "hidden" in style) and rules.HIDDEN_STYLE.search(style):
                return "mwe-math" not in (names or "")
        return "hidden" in attributes or (attributes.get("role") == "navigation" and tag != "section")

    def element(self, node: LexborNode, tag: str, depth: int) -> None:
        attributes = node.attributes
        classes = attributes.get("class") or ""
        if attributes and self.skips(tag, attributes) and not _swallows(node, classes):
            return
        if tag not in BLOCKS or "mwe-math-element" in classes:
            inline.write(self, node, tag, attributes, classes, depth)
        elif self.in_cell:
            self._block_in_cell(node, tag, classes, depth)
        elif tag in _HEADINGS:
            self._heading(node, tag, attributes, depth)
        else:
            self.flush()
            self._block(node, tag, attributes, classes, depth)

    def _block(self, node: LexborNode, tag: str, attributes: dict, classes: str, depth: int) -> None:
        if tag == "table":
            tables.write(self, node, attributes, classes, depth)
        elif tag in ("ul", "ol", "menu", "dir"):
            lists.write_list(self, node, tag, attributes, depth)
        elif tag == "dl":
            lists.write_definitions(self, node, depth)
        elif tag == "pre":
            self._code(node, classes)
        elif tag == "blockquote":
            outer, self.indent = self.indent, self.indent + "> "
            self.children(node, depth + 1)
            self.flush()
            self.indent = outer
        elif tag == "figure" or tag == "hr":
            pass
        elif not rules.HATNOTES.isdisjoint(classes.split()):
            if text := self.line(node, depth):
                if self.in_lead:
                    self.hatnotes.append(text)
                else:
                    self.emit(f"({text.rstrip('.')})")
        elif "infobox" in classes and "infobox-" not in classes and tables.is_infobox(attributes, classes):
            tables.write_infobox(self, node, depth)
        elif "mw-highlight" in classes:
            language = _LANGUAGE.search(classes)
            self._code_language = language[1] if language else ""
            self.children(node, depth + 1)
            self.flush()
            self._code_language = ""
        else:
            self.children(node, depth + 1)
            self.flush()

    def _block_in_cell(self, node: LexborNode, tag: str, classes: str, depth: int) -> None:
        """A block where only one line may be written: its parts are set off by line breaks."""
        if tag in ("figure", "hr") or not rules.HATNOTES.isdisjoint(classes.split()):
            return
        if tag == "pre":
            self.buffer.append(f" `{' '.join(text_of(node).split())}` ")
            return
        self.buffer.append("\n")
        if tag == "table" and self.in_cell > 3:
            self.flat(node)
            return
        self.in_cell += tag == "table"
        self.children(node, depth + 1)
        self.in_cell -= tag == "table"
        self.buffer.append(" " if tag in ("td", "th") else "\n")

    def _heading(self, node: LexborNode, tag: str, attributes: dict, depth: int) -> None:
        self.flush()
        heading = self.line(node, depth)
        if not heading or (tag == "h1" and heading in self.titles):
            return
        id_ = attributes.get("id") or ""
        if not id_ or id_.startswith("mw"):
            headline = node.css_first(".mw-headline[id]")
            id_ = (headline.attributes.get("id") if headline is not None else id_) or ""
        self.indent = self.bullet = ""
        self.list = 0
        self.parts.append(Part(_HEADINGS[tag], heading, id_))

    def _code(self, node: LexborNode, classes: str) -> None:
        code = text_of(node).replace("\r", "").strip("\n")
        if code.strip():
            language = _LANGUAGE.search(classes)
            fence = "```" if "```" not in code else "~~~~"
            self.emit(f"{fence}{language[1] if language else self._code_language}\n{code}\n{fence}")


def _swallows(node: LexborNode, classes: str) -> bool:
    """Whether a picture's frame was never closed, so that the rest of the article is in it."""
    return "thumb" in classes and node.css_first("h2, h3, .wikitable") is not None


def text_of(node: LexborNode) -> str:
    """The bare text of a subtree, white space as it stands, <br> as a line's end."""
    pieces, stack, n = [], [node], 0
    while stack and n < MAX_FLAT_NODES:
        n += 1
        here = stack.pop()
        if here.tag == "-text":
            pieces.append(here.text_content or "")
        elif here.tag == "br":
            pieces.append("\n")
        elif here.tag not in rules.SKIPPED_TAGS:
            child = here.last_child
            while child is not None:
                stack.append(child)
                child = child.prev
    return "".join(pieces)
