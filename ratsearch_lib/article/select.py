"""What answers a question best, within a budget."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..text import Passage
from . import rank, render
from .model import Article

MAX_TOKENS = 2000
GAP = "…"
LEAD_SHARE, OUTLINE_SHARE = 8, 8  # an eighth of the budget each
WHOLE_PARAGRAPHS_FROM = 2000  # characters of budget

_LEANING = re.compile(
    r"(he|she|it|they|his|her|its|their|this|that|these|those|such|both|er|sie|es|dieser?|dieses|ihre?|seine?"
    r"|il|elle|ils|elles|cette|ces|son|sa|su|sus|este|esta|estos|estas|он|она|они|это|этот|эта|هو|هي|هذه|هذا)\b",
    re.I,
)


def estimate_tokens(text: str) -> int:
    """About how many tokens a model makes of `text`; tokenizers differ by a third either way.

    One for 4 characters of ASCII, for 2 of other alphabets, for each ideograph.

    >>> estimate_tokens("The brown rat."), estimate_tokens("東京都")
    (4, 3)
    """
    ascii_chars = len(text.encode("ascii", "ignore"))
    wide = sum(1 for c in text if c >= "\u2e80") if ascii_chars < len(text) else 0
    return (ascii_chars + 3) // 4 + (len(text) - ascii_chars - wide + 1) // 2 + wide


def passages(
    article: Article, question: str, *, previous_questions: Sequence[str] = (), limit: int = 5
) -> list[Passage]:
    """The paragraphs, lists and tables of `article` that answer `question` best, best first; [] when none does."""
    index = rank.index(article)
    units, blocks = index.scores(question, previous_questions)
    scores = [
        max(units[block.first : block.end], default=0.0) + score if block.kind != "note" else 0.0
        for block, score in zip(index.blocks, blocks, strict=True)
    ]
    return [
        Passage(index.blocks[number].text, _heading(article, index.blocks[number].section), scores[number])
        for number in _best(scores)[:limit]
    ]


def quotes(article: Article, question: str, *, previous_questions: Sequence[str] = (), limit: int = 3) -> list[Passage]:
    """The sentences, list items or table rows (each under its header row) that answer `question` best, best first."""
    index = rank.index(article)
    scores, _ = index.scores(question, previous_questions)
    found = []
    for number in _best(scores)[:limit]:
        unit = index.units[number]
        head = index.blocks[unit.block].head
        text = f"{head}\n{unit.text}" if head else unit.text
        found.append(Passage(text, _heading(article, unit.section), scores[number]))
    return found


def _best(scores: Sequence[float]) -> list[int]:
    return sorted((n for n in range(len(scores)) if scores[n] > 0), key=lambda n: (-scores[n], n))


def _heading(article: Article, section: int) -> str:
    return article.sections[section].heading if section >= 0 else ""


def select(
    article: Article,
    question: str,
    *,
    max_tokens: int | None = None,
    max_chars: int | None = None,
    previous_questions: Sequence[str] = (),
) -> str:
    """See `Article.select`."""
    if max_tokens is None and max_chars is None:
        max_tokens = MAX_TOKENS
    whole = article.text()
    chars = len(whole) if max_chars is None else max_chars
    if max_tokens is not None:
        chars = min(chars, int(max_tokens * len(whole) / max(1, estimate_tokens(whole))))
    for _ in range(4):
        text = _within(article, whole, question, previous_questions, max(0, chars))
        if max_tokens is None or (tokens := estimate_tokens(text)) <= max_tokens:
            return text
        chars = int(min(chars, len(text)) * max_tokens / tokens * 0.97)  # what was chosen takes more tokens than most
    return text[: max(0, max_tokens)]


def _within(article: Article, whole: str, question: str, previous: Sequence[str], max_chars: int) -> str:
    if len(whole) <= max_chars:
        return whole
    index = rank.index(article)
    scores, _ = index.scores(question, previous)
    best = _best(scores)
    if not best:
        return article.text(max_chars)
    return _Selection(article, index, scores, max_chars).text(best)


class _Selection:
    """The units chosen so far, and at most how many characters show them."""

    def __init__(self, article: Article, index: rank.Index, scores: list[float], max_chars: int):
        self.article, self.index, self.scores, self.max_chars = article, index, scores, max_chars
        self.chosen: set[int] = set()
        self.sections: set[int] = {-1}
        self.blocks: set[int] = set()
        self.opening = [render.title_line(article)]
        outline = render.short_outline(article, max_chars // OUTLINE_SHARE)
        if outline:
            self.opening.append(outline)
        self.used = sum(len(line) + 2 for line in self.opening)

    def text(self, best: list[int]) -> str:
        self.used += len(self._left_out(best[0]))
        for number in self._lead():
            self._add([number], self.max_chars // 2)
        roomy = self.max_chars >= WHOLE_PARAGRAPHS_FROM
        self._add_each(best, self.max_chars * 2 // 3 if roomy else self.max_chars, roomy)
        if roomy:
            self._fill_paragraphs(best)
            self._add_each(best, self.max_chars, False)
        self.used = len(self._render(best[0]))  # exactly, where until now it was at most
        self._add_each(best, self.max_chars, False)
        text = self._render(best[0])
        return text if len(text) <= self.max_chars else self.article.text(self.max_chars)

    def _add_each(self, best: list[int], room: int, with_neighbours: bool) -> None:
        misses = 0
        for number in best:
            if number in self.chosen:
                continue
            wanted = [number]
            unit = self.index.units[number]
            block = self.index.blocks[unit.block]
            if with_neighbours and block.kind == "paragraph" and number > block.first and _LEANING.match(unit.text):
                wanted.append(number - 1)
            if not (self._add(wanted, room) or self._add([number], room)):
                misses += 1
                if misses == 8:
                    return

    def _fill_paragraphs(self, best: list[int]) -> None:
        """Make whole what is half shown, the best first, within seven eighths of the budget."""
        seen = set()
        for number in best[:40]:
            block = self.index.units[number].block
            if number in self.chosen and block not in seen and self.index.blocks[block].kind == "paragraph":
                seen.add(block)
                units = range(self.index.blocks[block].first, self.index.blocks[block].end)
                missing = sum(len(self.index.units[n].text) for n in units if n not in self.chosen)
                if missing * 8 <= self.max_chars:
                    self._add(list(units), self.max_chars * 7 // 8)

    def _add(self, numbers: list[int], room: int) -> bool:
        """Choose these units, if they fit into `room` characters."""
        new = [number for number in numbers if number not in self.chosen]
        cost, sections, blocks = 0, set(), set()
        for number in new:
            unit = self.index.units[number]
            cost += len(unit.text) + 2 * len(GAP) + 4
            if unit.block not in self.blocks:
                blocks.add(unit.block)
            if unit.section not in self.sections:
                sections.add(unit.section)
        cost += sum(len(self.index.blocks[block].head) + 3 for block in blocks)
        cost += sum(len(render.heading_line(self.article.sections[section])) + 2 for section in sections)
        if self.used + cost > room:
            return False
        self.used += cost
        self.chosen.update(new)
        self.blocks |= blocks
        self.sections |= sections
        return True

    def _lead(self) -> list[int]:
        """The lead's first sentences: one, or two within an eighth of the budget."""
        index = self.index
        start = next((block.first for block in index.blocks if block.kind != "note"), 0)
        lead = [n for n in (start, start + 1) if n < len(index.units) and index.units[n].section < 0]
        if len(lead) == 2 and sum(len(index.units[n].text) for n in lead) > self.max_chars // LEAD_SHARE:
            lead.pop()
        return lead

    def _left_out(self, best: int) -> str:
        section = self.index.units[best].section
        if section < 0:
            section = 0
        if not self.article.sections:
            return f"[Left out: {10**6:,} characters.]"
        heading = self.article.sections[section].heading
        return f'[Left out: {10**6:,} characters. Read a section with read_article("{self.article.title}#{heading}").]'

    def _render(self, best: int) -> str:
        index, shown = self.index, list(self.opening)
        section, block, last = -1, -1, -1
        left_out = 0
        for number, unit in enumerate(index.units):
            if number not in self.chosen:
                left_out += len(unit.text) + 1
                continue
            here = index.blocks[unit.block]
            joiner = " " if here.kind == "paragraph" else "\n"
            gap = GAP + joiner if number != last + 1 else ""
            if unit.section != section:
                section = unit.section
                shown.append(render.heading_line(self.article.sections[section]))
                gap = gap if number != here.first or unit.block != block + 1 else ""
            if unit.block == block:
                shown[-1] += joiner + gap + unit.text
            else:
                shown.append((here.head + "\n" if here.head else "") + gap + unit.text)
            block, last = unit.block, number
        shown.append(self._left_out(best).replace(f"{10**6:,}", f"{left_out:,}"))
        return "\n\n".join(shown)
