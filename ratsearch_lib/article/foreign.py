"""Pages that are no wiki articles (questions and answers, documentation, websites), read through html2text."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from . import inline, rules
from .model import Article, Section
from .tree import depth

# Beyond these html2text takes long, and on nested lists and quotations without end.
MAX_HTML_CHARS = 300_000
MAX_DEPTH = 100

_CLUTTER = ", ".join(
    [
        *sorted(rules.SKIPPED_TAGS - {"head", "title"}),
        *("footer", "aside", "dialog", "[hidden]", "[role=navigation]", "[role=search]", "[role=banner]"),
        *("[role=contentinfo]", ".navbar", ".sidebar", ".breadcrumb", ".breadcrumbs", ".footer", "#footer"),
        *(".pagination", ".headerlink", ".skip-link", ".sr-only", ".toc", "#toc", ".menu"),
        # questions and answers: votes, who wrote it, what one may do about it
        *(".reputation", ".score", ".votecell", ".js-vote-count", ".js-voting-container", ".author", ".user-info"),
        *(".post-signature", ".post-menu", ".tags", ".post-taglist"),
    ]
)
_HEADING = re.compile(r"(#{1,6}) +(.+)")
_BULLET = re.compile(r"^(\s*)\* ")
_ESCAPED = re.compile(r"^(\s*(?:\d+)?)\\([-+.#])")  # html2text guards against lists where there are none
_BLANK_LINES = re.compile(r"\n{3,}")
_EMPTINESS = re.compile(r"(?:\n[^\S\n]*){50,}")  # html2text takes the square of its lines


def article(root: LexborNode, title: str) -> Article | None:
    """Title, lead and sections of a page, cut at its headings; None when it is not for html2text."""
    for node in root.css(_CLUTTER):
        node.decompose()
    for node in root.css("[style]"):
        if rules.HIDDEN_STYLE.search(node.attributes.get("style") or ""):
            node.decompose()
    html = _EMPTINESS.sub("\n\n", root.html or "")
    if len(html) > MAX_HTML_CHARS or depth(html) > MAX_DEPTH:
        return None
    links = _links(root)
    lead, sections = _cut(_markdown(html), title)
    return Article(title, lead, sections=sections, links=links)


def _links(root: LexborNode) -> tuple[tuple[str, str], ...]:
    links: dict[str, str] = {}
    for node in root.css("a[href]")[: inline.MAX_LINKS]:
        href = node.attributes.get("href") or ""
        if href and href[0] != "#" and not inline.leads_out(href):
            text = " ".join(node.text().split())
            if text and (target := inline.link_target(href)):
                links.setdefault(target, text)
    return tuple(links.items())


def _markdown(html: str) -> str:
    import html2text

    converter = html2text.HTML2Text(bodywidth=0)
    converter.ignore_links = True
    converter.ignore_images = True
    converter.ignore_emphasis = True
    return converter.handle(html)


def _cut(markdown: str, title: str) -> tuple[str, tuple[Section, ...]]:
    parts: list[tuple[int, str, list[str]]] = [(0, "", [])]
    for line in markdown.splitlines():
        if not line.strip("# "):
            line = ""  # html2text's heading of nothing
        heading = _HEADING.fullmatch(line.strip())
        if heading is None:
            parts[-1][2].append(_ESCAPED.sub(r"\1\2", _BULLET.sub(_dash, line.rstrip())))
        elif heading[2].strip().casefold() != title.casefold():
            parts.append((max(2, len(heading[1])), heading[2].strip(), []))
    texts = [
        (level, heading, _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")) for level, heading, lines in parts
    ]
    lead = texts[0][2].strip()
    sections = [Section(level, heading, text) for level, heading, text in texts[1:] if text.strip() or heading]
    if not lead:
        for number, section in enumerate(sections):
            if section.text:
                lead = section.text
                del sections[number]
                break
    return lead, tuple(sections)


def _dash(bullet: re.Match) -> str:
    return bullet[1][2:] + "- "
