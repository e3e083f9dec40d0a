"""HTML → Article."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..errors import ArticleError
from . import foreign, rules
from .inline import clean
from .model import Article, Section
from .tree import decode, parse_tree
from .walk import Part, Walker, text_of

_WIKI_ROOTS = ("#mw-content-text", ".mw-parser-output", "#bodyContent", ".mw-body-content", ".mw-body")
_SITE_ROOTS = ("main", "article", "[role=main]", "#content", "#main", "#main-content")
_WIKI_MARKS = "[class^=mw-],[id^=mw],.wikitable,.infobox,#titleHeading,#firstHeading"


def parse(html: str | bytes, title: str | None = None) -> Article:
    """Read a page; raises ArticleError when it holds no text. See `Article.from_html`."""
    page = parse_tree(decode(html))
    heading = _title(page)
    title = " ".join((title or heading).split())
    redirect_to = _redirect(page)
    is_wiki, root = _root(page)
    article = None if is_wiki else foreign.article(root, title)
    article = article or _wiki_article(page, root, title, heading)
    if not (article.lead or article.infobox or any(section.text for section in article.sections)):
        body = page.body
        lead = clean(text_of(body)) if body is not None else ""
        if not lead and redirect_to is None:
            raise ArticleError(
                f"The page {title!r} holds no text." if title else "The page is empty: it holds no text."
            )
        article = Article(title, lead)
    language = page.root.attributes.get("lang") or "" if page.root is not None else ""
    if not article.title:
        lines = [line for line in article.text().split("\n")[1:] if line.strip()]
        first = next((line for line in lines if line.strip("# ")), "".join(lines[:1]))
        article = replace(article, title=first if len(first) <= 60 else first[:60].rsplit(" ", 1)[0] + "…")
    return replace(article, redirect_to=redirect_to, language=language)


def _wiki_article(page: LexborHTMLParser, root: LexborNode, title: str, heading: str) -> Article:
    walker = Walker({title, heading})
    walker.children(root, 0)
    walker.flush()
    sections = tuple(_sections(walker.parts[1:]))
    lead = join(walker.parts[0].blocks)
    if not lead and sections:
        lead, sections = _lead_from(sections)
    head = page.head
    marked = head is not None and head.css_first('meta[property="mw:PageProp/disambiguation"]') is not None
    first = lead.split("\n", 1)[0]
    lists = "\n- " in lead or (bool(sections) and "- " in sections[0].text)
    return Article(
        title,
        lead,
        infobox=tuple(walker.infobox),
        sections=sections,
        links=tuple(walker.links.items()),
        hatnotes=tuple(walker.hatnotes),
        is_disambiguation=marked
        or walker.is_disambiguation
        or bool(rules.DISAMBIGUATION_TITLE.search(title))
        or (lists and len(first) < 300 and bool(rules.DISAMBIGUATION_LEAD.search(first))),
    )


def join(blocks: list[tuple[int, str]]) -> str:
    """Blocks a blank line apart, a list's items on lines of their own."""
    pieces: list[str] = []
    previous = 0
    for number, text in blocks:
        if pieces:
            pieces.append("\n" if number and number == previous else "\n\n")
        pieces.append(text)
        previous = number
    return "".join(pieces).strip("\n")


def _sections(parts: list[Part]) -> list[Section]:
    """The parts that are content: no references, web links or headings over nothing."""
    kept: list[Section] = []
    dropped_level = 0
    for part in parts:
        if dropped_level and part.level > dropped_level:
            continue
        dropped_level = part.level if _is_apparatus(part) else 0
        if not dropped_level:
            kept.append(Section(part.level, part.heading, join(part.blocks), part.id))
    return [
        section
        for section, following in zip(kept, [*kept[1:], None], strict=False)
        if section.text or (following is not None and following.level > section.level)
    ]


def _is_apparatus(part: Part) -> bool:
    if part.heading.casefold() in rules.APPARATUS_HEADINGS:
        return True
    # Lists of citations or of links that lead out, and hardly a word besides.
    prose = sum(len(text) for number, text in part.blocks if not number)
    return part.items > 0 and part.outward >= 0.7 * part.items and prose < 200


def _lead_from(sections: tuple[Section, ...]) -> tuple[str, tuple[Section, ...]]:
    """A page that begins with a heading: what stands under it leads."""
    for number, section in enumerate(sections):
        if section.text:
            return section.text, sections[:number] + sections[number + 1 :]
    return "", sections


def _root(page: LexborHTMLParser) -> tuple[bool, LexborNode]:
    """Whether the page is a wiki's, and the element that holds its article."""
    for selector in _WIKI_ROOTS:
        if (node := page.css_first(selector)) is not None:
            return True, node
    body = page.body or page.root
    if page.css_first(_WIKI_MARKS) is not None:
        return True, body
    for selector in _SITE_ROOTS:
        nodes = page.css(selector)
        if len(nodes) == 1:
            return False, nodes[0]
    return False, body


def _title(page: LexborHTMLParser) -> str:
    headings = page.css("#firstHeading, #titleHeading, h1")
    for node in sorted(headings, key=lambda node: not (node.attributes.get("id") or "").endswith("Heading")):
        if text := Walker().line(node, 0):
            return text
    if (node := page.css_first("title")) is not None and (text := " ".join(node.text().split())):
        return rules.SITE_SUFFIX.sub("", text)
    return ""


def _redirect(page: LexborHTMLParser) -> str | None:
    """Where a page that only refreshes to another one leads: mwoffliner's stubs for redirects to a section."""
    for meta in page.head.css("meta[http-equiv]") if page.head is not None else ():
        attributes = meta.attributes
        if (attributes.get("http-equiv") or "").lower() == "refresh":
            _, _, target = (attributes.get("content") or "").partition("=")
            target = target.strip().strip("'\"")
            while target.startswith(("./", "../")):
                target = target.split("/", 1)[1]
            if target:
                return unquote(target)
    return None
