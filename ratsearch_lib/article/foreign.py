"""Pages that are no wiki articles (questions and answers, documentation, websites), read through html2text."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from . import inline, rules
from .model import Article, Section

MAX_HTML_CHARS = 1_000_000  # html2text takes half a second for this much

_CLUTTER = ", ".join(
    [
        *sorted(rules.SKIPPED_TAGS - {"head", "title"}),
        *("footer", "aside", "dialog", "[hidden]", "[role=navigation]", "[role=search]", "[role=banner]"),
        *("[role=contentinfo]", ".navbar", ".sidebar", ".breadcrumb", ".breadcrumbs", ".footer", "#footer"),
        *(".pagination", ".headerlink", ".skip-link", ".sr-only", ".toc", "#toc", ".menu"),
    ]
)
_HEADING = re.compile(r"(#{1,6}) +(.+)")
_BULLET = re.compile(r"^(\s*)\* ")
_BLANK_LINES = re.compile(r"\n{3,}")


def article(page: LexborHTMLParser, root: LexborNode, title: str) -> Article:
    """Title, lead and sections of a page, cut at its headings."""
    for node in root.css(_CLUTTER):
        node.decompose()
    for node in root.css("[style]"):
        if rules.HIDDEN_STYLE.search(node.attributes.get("style") or ""):
            node.decompose()
    links = _links(root)
    lead, sections = _cut(_markdown(root), title)
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


def _markdown(root: LexborNode) -> str:
    import html2text

    html = root.html or ""
    if len(html) > MAX_HTML_CHARS:
        html = html[: html.rfind("<", 0, MAX_HTML_CHARS)]
    converter = html2text.HTML2Text(bodywidth=0)
    converter.ignore_links = True
    converter.ignore_images = True
    converter.ignore_emphasis = True
    converter.mark_code = False
    converter.single_line_break = False
    return converter.handle(html)


def _cut(markdown: str, title: str) -> tuple[str, tuple[Section, ...]]:
    parts: list[tuple[int, str, list[str]]] = [(0, "", [])]
    for line in markdown.splitlines():
        heading = _HEADING.fullmatch(line.strip())
        if heading is None:
            parts[-1][2].append(_BULLET.sub(_dash, line.rstrip()))
        elif heading[2].strip().casefold() != title.casefold():
            parts.append((max(2, len(heading[1])), heading[2].strip(), []))
    texts = [
        (level, heading, re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")) for level, heading, lines in parts
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
