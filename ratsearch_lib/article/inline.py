"""What stands inside a line: links, formulas, super- and subscripts, code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

if TYPE_CHECKING:
    from .walk import Walker

MAX_LINKS = 5000

_SUPERSCRIPT = str.maketrans("0123456789+-−–=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ")
_SUBSCRIPT = str.maketrans("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_SUPERSCRIPT_CHARS = frozenset("0123456789+-−–=()ni")
_SUBSCRIPT_CHARS = frozenset("0123456789+-−–=()")
_BRACKETED = re.compile(r"[\[［][^\[\]［］]{1,40}[\]］]")
_STYLE = re.compile(r"\{\\(?:displaystyle|textstyle|scriptstyle)\b\s*(.*)\}", re.S)
_OUTWARD = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//|(?:mailto|tel|geo|javascript|data|magnet|news|urn|irc|sip):", re.I)

_SPACE = " \t\r\f\v\u00a0\u2002-\u200a\u202f\u3000"
_SPACES = re.compile(f"(?:  | ?[{_SPACE[1:]}])[{_SPACE}]*")  # all but a single plain space
_AROUND_NEWLINE = re.compile(" ?\n ?")
_NEWLINES = re.compile("\n+")
_INVISIBLE = re.compile("[\u200b\u2060\ufeff\u00ad\u200e\u200f]+")


def clean(text: str, line_break: str = "\n") -> str:
    """White space as a browser would show it; each <br> (here "\\n") as `line_break`."""
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    text = _SPACES.sub(" ", text)
    if "\n" in text:
        text = _AROUND_NEWLINE.sub("\n", text)
        if line_break != "\n":
            text = _NEWLINES.sub(line_break, text.strip("\n "))
    return text.strip()


def write(walker: Walker, node: LexborNode, tag: str, attributes: dict, classes: str, depth: int) -> None:
    """Add an inline element to the line that is being written."""
    buffer = walker.buffer
    if tag == "a":
        _link(walker, node, attributes, classes, depth)
    elif tag == "br":
        buffer.append("\n")
    elif tag == "wbr":
        pass
    elif tag == "img":
        if "mwe-math" in classes or classes == "tex":
            _write_tex(walker, attributes.get("alt") or "", "display" in classes)
    elif tag == "math" or "mwe-math-element" in classes:
        _formula(walker, node, classes)
    elif tag in ("sup", "sub"):
        _script(walker, node, tag, depth)
    elif tag in ("code", "kbd", "samp", "tt"):
        if text := clean(walker.capture(node, depth), " "):
            buffer.append(f"`{text}`" if "`" not in text else text)
    elif "chemf" in classes:  # super- and subscript one above the other, with a <br> between
        buffer.append(walker.capture(node, depth).replace("\n", ""))
    else:
        if tag == "cite" or "citation" in classes:
            walker.outward += 1
        walker.children(node, depth + 1)


def _link(walker: Walker, node: LexborNode, attributes: dict, classes: str, depth: int) -> None:
    text = walker.capture(node, depth)
    href = attributes.get("href") or ""
    if href.startswith("#") and _BRACKETED.fullmatch(text.strip()):
        return  # a reference mark
    walker.buffer.append(text)
    if not href or href[0] == "#":
        return
    if "external" in classes or "ExtLink" in (attributes.get("rel") or ""):
        walker.outward += 1
    elif not leads_out(href) and len(walker.links) < MAX_LINKS:
        target = link_target(href)
        if target and target not in walker.links and (text := " ".join(text.split())):
            walker.links[target] = text


def leads_out(href: str) -> bool:
    """Whether a link has a scheme or a host of its own. "Portal:Music" has neither: a namespace is no scheme."""
    return bool(_OUTWARD.match(href))


def link_target(href: str) -> str:
    """The title or path that a link leads to within the archive, "" where it leads elsewhere.

    >>> link_target("./Rat#Diet"), link_target("../A/Rat%20King.html"), link_target("/w/index.php?title=Rat")
    ('Rat', 'Rat King.html', '')
    """
    path = href.split("#", 1)[0]
    while path.startswith(("./", "../")):
        path = path.split("/", 1)[1]
    for prefix in ("/wiki/", "A/"):
        path = path.removeprefix(prefix)
    if path.startswith(("/", "-/", "I/")) or "?" in path:
        return ""
    return unquote(path) if "%" in path else path


def _script(walker: Walker, node: LexborNode, tag: str, depth: int) -> None:
    text = clean(walker.capture(node, depth), " ")
    if not text or _BRACKETED.fullmatch(text):
        return  # nothing, or a reference mark
    upper = tag == "sup"
    if len(text) <= 6 and (_SUPERSCRIPT_CHARS if upper else _SUBSCRIPT_CHARS).issuperset(text):
        text = text.translate(_SUPERSCRIPT if upper else _SUBSCRIPT)
    elif not (text.isalpha() and len(text) <= 4) and text[0] not in "[(（":  # "1st", "Mme"
        text = ("^" if upper else "_") + (f"({text})" if len(text) > 1 else text)
    walker.buffer.append(text)


def _formula(walker: Walker, node: LexborNode, classes: str) -> None:
    """A formula once, as TeX: MathML's `alttext` or annotation, else the picture's `alt`, else the bare symbols."""
    math = node if node.tag == "math" else node.css_first("math")
    display, tex = "display" in classes, ""
    if math is not None:
        tex = math.attributes.get("alttext") or ""
        display = display or math.attributes.get("display") == "block"
        if not tex and (annotation := math.css_first("annotation")) is not None:
            tex = annotation.text() or ""
    if not tex and (image := node.css_first("img")) is not None:
        tex = image.attributes.get("alt") or ""
        display = display or "display" in (image.attributes.get("class") or "")
    if not tex and math is not None:
        tex = math.text() or ""
    _write_tex(walker, tex, display)
    if not tex.strip():
        walker.buffer.append("[formula]")  # archives of 2017 hold a picture and nothing else


def _write_tex(walker: Walker, tex: str, display: bool) -> None:
    tex = " ".join(tex.split())
    if styled := _STYLE.fullmatch(tex):
        tex = styled[1].strip()
    if tex:
        walker.buffer.append(f"$${tex}$$" if display else f"${tex}$")
