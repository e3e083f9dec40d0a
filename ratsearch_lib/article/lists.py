"""Lists: items under their bullets, indented by level, and definitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborNode

from . import rules

if TYPE_CHECKING:
    from .walk import Walker


def write_list(walker: Walker, node: LexborNode, tag: str, attributes: dict, depth: int) -> None:
    """Add the items of a <ul> or <ol>, and of the lists in it."""
    indent, bullet, outer = walker.indent, walker.bullet, walker.list
    if bullet:  # a list that opens its item: the item has no text of its own
        walker.bullet = ""
        indent = indent[: len(indent) - len(bullet)]
    if not outer:
        walker.lists += 1
        walker.list = walker.lists
    start = attributes.get("start") or ""
    number = int(start) if start.isdecimal() and len(start) < 10 else 1
    child = node.first_child
    while child is not None:
        name = child.tag
        if name == "li":
            if not walker.skips("li", child.attributes):
                _item(walker, child, indent, f"{number}. " if tag == "ol" else "- ", depth)
            number += 1
        elif name in ("ul", "ol"):
            walker.indent, walker.bullet = indent + "  ", ""
            if depth < rules.MAX_WALKED_DEPTH:
                write_list(walker, child, name, child.attributes, depth + 1)
            else:
                walker.flat(child)
        elif name and name[0] not in "-!" and name not in rules.SKIPPED_TAGS:
            walker.indent, walker.bullet = indent, ""
            walker.element(child, name, depth + 1)
            walker.flush()
        child = child.next
    walker.indent, walker.bullet = indent if not bullet else indent + " " * len(bullet), ""
    walker.list = outer


def _item(walker: Walker, node: LexborNode, indent: str, bullet: str, depth: int) -> None:
    outward = walker.outward
    walker.indent, walker.bullet = indent + " " * len(bullet), bullet
    part = walker.parts[-1]
    walker.children(node, depth + 1)
    walker.flush()
    walker.bullet = ""
    part.items += 1
    part.outward += walker.outward > outward


def write_definitions(walker: Walker, node: LexborNode, depth: int) -> None:
    """`- term: definition`; a definition without a term is MediaWiki's way to indent a line."""
    indent, outer, term = walker.indent, walker.list, ""
    walker.bullet = ""
    if not outer:
        walker.lists += 1
    number = outer or walker.lists
    for child in _definition_children(node):
        if walker.skips(child.tag, child.attributes):
            continue
        if child.tag == "dt":
            if term:
                walker.list = number
                walker.emit("- " + term)
            term = walker.line(child, depth).rstrip(" :：")
        else:
            walker.list = number if term else outer
            walker.indent = indent + "  " if term else indent
            walker.bullet = "- "[: 2 if term else 0]
            if term:
                walker.buffer.append(term + ": ")
            term = ""
            walker.children(child, depth + 1)
            walker.flush()
            walker.indent, walker.bullet = indent, ""
    if term:
        walker.list = number
        walker.emit("- " + term)
    walker.list = outer


def _definition_children(node: LexborNode) -> Iterator[LexborNode]:
    """The <dt> and <dd> of a <dl>, also those inside the <div>s that HTML allows around them."""
    child = node.first_child
    while child is not None:
        if child.tag in ("dt", "dd"):
            yield child
        elif child.tag == "div":
            inner = child.first_child
            while inner is not None:
                if inner.tag in ("dt", "dd"):
                    yield inner
                inner = inner.next
        child = child.next
