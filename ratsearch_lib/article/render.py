"""Article → Markdown, whole or cut, its outline, one section of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from urllib.parse import unquote

from ..text import sentences
from .model import Article, Section

_WORDS = re.compile(r"[^\W_]+")
_LEGACY_ID = re.compile(r"\.([0-9A-F]{2})")


def title_line(article: Article) -> str:
    return f"Article: {article.title}"


def pieces(article: Article) -> list[tuple[int, str]]:
    """The article's blocks in order, each with its section's number: −1 for what stands before the first heading."""
    found = [(-1, f"({hatnote})") for hatnote in article.hatnotes]
    found += [(-1, block) for block in blocks(article.lead)]
    if article.infobox:
        found.append((-1, infobox(article)))
    for number, section in enumerate(article.sections):
        found.append((number, heading_line(section)))
        found += [(number, block) for block in blocks(section.text)]
    return found


def heading_line(section: Section) -> str:
    return f"{'#' * section.level} {section.heading}"


def infobox(article: Article) -> str:
    """A line for each row: "key: value"."""
    return "\n".join(f"{key}: {value}" if key else value for key, value in article.infobox)


def blocks(text: str) -> list[str]:
    """Markdown cut at its blank lines, code in one piece."""
    found: list[str] = []
    fence, code = "", []
    for block in text.split("\n\n"):
        inside = bool(fence)
        for line in block.split("\n"):
            mark = line.lstrip(" >-")[:3]
            if mark in ("```", "~~~") and (not fence or mark == fence):
                fence = "" if fence else mark
        if inside or fence:
            code.append(block)
            if not fence:
                found.append("\n\n".join(code))
                code = []
        elif block.strip():
            found.append(block.strip("\n"))
    return found + ["\n\n".join(code)] * bool(code)


def text(article: Article, max_chars: int | None = None) -> str:
    """See `Article.text`."""
    found = pieces(article)
    whole = "\n\n".join([title_line(article), *(block for _, block in found)])
    if max_chars is None or len(whole) <= max_chars:
        return whole
    ends = [len(title_line(article))]  # where each number of blocks ends
    for _, block in found:
        ends.append(ends[-1] + 2 + len(block))
    n = bisect_right(ends, max_chars) - 1
    while n >= 0:
        mark = left_out(article, found[n:], max_chars // 4)
        room = max_chars - 2 - len(mark)
        if ends[n] > room:
            n = bisect_right(ends, room) - 1
            continue
        kept = whole[: ends[n]]
        part = _part_of_block(found[n][1], room - len(kept) - 2) if len(kept) * 2 < max_chars else ""
        if part:
            return f"{kept}\n\n{part}\n\n{mark}"
        if not n or not found[n - 1][1].startswith("#"):
            return f"{kept}\n\n{mark}"
        n -= 1  # no heading with nothing under it
    return whole[: max(0, max_chars)]


def _part_of_block(block: str, max_chars: int) -> str:
    """The first lines or sentences of a block that is too long."""
    lines = block.split("\n")
    kept, length = [], 0
    for line in lines:
        if length + len(line) + 1 > max_chars:
            break
        kept.append(line)
        length += len(line) + 1
    if kept:
        return "\n".join(kept)
    end = 0
    for sentence in sentences(lines[0][: max(0, max_chars)])[:-1]:  # the last one may be cut
        end = lines[0].index(sentence, end) + len(sentence)
    if not end and max_chars > 80:
        end = lines[0].rfind(" ", 0, max_chars)
    return lines[0][:end] if end > 0 else ""


def left_out(article: Article, missing: list[tuple[int, str]], max_chars: int) -> str:
    """The line that says what is missing, and how to read it; never longer than `max_chars`, if that is 60 or more."""
    sizes: dict[int, int] = {}
    for number, block in missing:
        if not block.startswith("#"):
            sizes[number] = sizes.get(number, 0) + len(block)
    total = sum(sizes.values())
    names = [article.sections[number].heading for number in sizes if number >= 0]
    if not names:
        return f"[Left out: {total:,} characters.]"
    how = f'. Read one with read_article("{article.title}#{names[0]}").]'
    for shown in range(min(len(names), max_chars // 3), 0, -1):
        listed = "; ".join(names[:shown]) + (f"; {len(names) - shown} more" if shown < len(names) else "")
        if len(line := f"[Left out, {total:,} characters: {listed}{how}") <= max_chars:
            return line
    return f"[Left out: {len(names)} sections, {total:,} characters.]"


def outline(article: Article) -> str:
    """See `Article.outline`."""
    return "\n".join(
        f"{'  ' * max(0, section.level - 2)}- {section.heading} ({len(section.text):,} characters)"
        for section in article.sections
    )


def short_outline(article: Article, max_chars: int) -> str:
    """The sections' headings on one line, those of the upper levels first if not all fit; "" when too few do."""
    sections = article.sections
    for deepest in (6, 3, 2):
        names = [section.heading for section in sections if section.level <= deepest]
        line = "Sections: " + "; ".join(names)
        if names and len(line) <= max_chars:
            return line
    names = [section.heading for section in sections if section.level <= 2] or [s.heading for s in sections]
    for shown in range(min(len(names) - 1, max_chars // 3), 1, -1):
        line = f"Sections: {'; '.join(names[:shown])}; {len(names) - shown} more"
        if len(line) <= max_chars:
            return line
    return ""


def _key(name: str) -> str:
    return " ".join(_WORDS.findall(unquote(name).casefold())) or name.strip().casefold()


def _find(article: Article, name: str) -> int | None:
    """The number of the section that `name` means: by id, by heading, then by a heading's beginning."""
    name = name.strip().lstrip("#").strip()
    if not name:
        return None
    wanted = {_key(name), _key(_LEGACY_ID.sub(r"%\1", name))}
    for names in ([s.id for s in article.sections], [s.heading for s in article.sections]):
        for number, candidate in enumerate(names):
            if candidate and (candidate == name or _key(candidate) in wanted):
                return number
    for number, section in enumerate(article.sections):
        if any(f"{_key(section.heading)} ".startswith(f"{key} ") for key in wanted):
            return number
    return None


def section(article: Article, name: str) -> Section | None:
    """See `Article.section`."""
    found = part(article, name)
    if found is None:
        return None
    number = _find(article, name)
    inner = [found.lead] if found.lead else []
    for below in found.sections:
        inner += [heading_line(below), below.text] if below.text else [heading_line(below)]
    return replace(article.sections[number], text="\n\n".join(inner))


def part(article: Article, name: str) -> Article | None:
    """See `Article.part`."""
    number = _find(article, name)
    if number is None:
        return None
    top = article.sections[number]
    end = number + 1
    while end < len(article.sections) and article.sections[end].level > top.level:
        end += 1
    return Article(
        f"{article.title}#{top.heading}",
        top.text,
        sections=article.sections[number + 1 : end],
        links=article.links,
        language=article.language,
    )
