"""What answers a question best, within a budget."""

from __future__ import annotations

from collections.abc import Sequence

from ..text import Passage
from . import rank, render
from .model import Article

MAX_TOKENS = 2000
GAP = "…"


def estimate_tokens(text: str) -> int:
    """About how many tokens a model makes of `text`: a token for 4 characters of ASCII, for 2 of others, for each
    ideograph. (An estimate: tokenizers differ by a third either way.)"""
    ascii_chars = len(text.encode("ascii", "ignore"))
    wide = sum(1 for c in text if c >= "\u2e80") if ascii_chars < len(text) else 0
    return (ascii_chars + 3) // 4 + (len(text) - ascii_chars - wide + 1) // 2 + wide


def passages(
    article: Article, question: str, *, previous_questions: Sequence[str] = (), limit: int = 5
) -> list[Passage]:
    """The paragraphs, lists and tables of `article` that answer `question` best, best first."""
    index = rank.index(article)
    units, blocks = index.scores(question, previous_questions)
    best = [
        max(units[block.first : block.end], default=0.0) + score
        for block, score in zip(index.blocks, blocks, strict=True)
    ]
    order = sorted((n for n in range(len(best)) if best[n] > 0), key=lambda n: (-best[n], n))[:limit]
    return [Passage(index.blocks[n].text, _heading(article, index.blocks[n].section), best[n]) for n in order]


def quotes(article: Article, question: str, *, previous_questions: Sequence[str] = (), limit: int = 3) -> list[Passage]:
    """The sentences (or list items, or table rows) of `article` that answer `question` best, best first."""
    index = rank.index(article)
    units, _ = index.scores(question, previous_questions)
    order = sorted((n for n in range(len(units)) if units[n] > 0), key=lambda n: (-units[n], n))[:limit]
    found = []
    for number in order:
        unit = index.units[number]
        head = index.blocks[unit.block].head
        text = f"{head}\n{unit.text}" if head else unit.text
        found.append(Passage(text, _heading(article, unit.section), units[number]))
    return found


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
    whole = article.text()
    if max_tokens is None and max_chars is None:
        max_tokens = MAX_TOKENS
    if max_tokens is not None:
        per_token = len(whole) / max(1, estimate_tokens(whole))
        chars = int(max_tokens * per_token)
        max_chars = chars if max_chars is None else min(chars, max_chars)
    if len(whole) <= max_chars:
        return whole
    index = rank.index(article)
    scores, _ = index.scores(question, previous_questions)
    if not any(scores):
        return article.text(max_chars)
    return _Selection(article, index, max_chars).fill(scores)


class _Selection:
    """The units chosen so far, and how long the text is that shows them."""

    def __init__(self, article: Article, index: rank.Index, max_chars: int):
        self.article, self.index, self.max_chars = article, index, max_chars
        self.chosen: set[int] = set()

    def fill(self, scores: list[float]) -> str:
        for number in self._lead():
            self.chosen.add(number)
        order = sorted(range(len(scores)), key=lambda n: (-scores[n], n))
        misses = 0
        for number in order:
            if number in self.chosen or scores[number] <= 0:
                continue
            self.chosen.add(number)
            if len(self.render()) > self.max_chars:
                self.chosen.discard(number)
                misses += 1
                if misses > 5:
                    break
        return self.render()[: self.max_chars]

    def _lead(self) -> list[int]:
        """The lead's first sentences, within an eighth of the budget."""
        length, lead = 0, []
        for number, unit in enumerate(self.index.units):
            if unit.section >= 0:
                break
            length += len(unit.text)
            if length > self.max_chars // 8 and lead:
                break
            lead.append(number)
            if len(lead) == 2:
                break
        return lead

    def render(self) -> str:
        article, index = self.article, self.index
        out = [render.title_line(article)]
        section, block, last = -1, -1, -1
        missing = []
        for number, unit in enumerate(index.units):
            if number not in self.chosen:
                continue
            if unit.section != section:
                out.append(render.heading_line(article.sections[unit.section]))
                section = unit.section
            here = index.blocks[unit.block]
            gap = number != last + 1
            if unit.block == block and out:
                joiner = " " if here.kind == "paragraph" else "\n"
                out[-1] += joiner + (GAP + joiner if gap else "") + unit.text
            else:
                head = here.head + "\n" if here.head else ""
                out.append(head + (GAP + " " if gap and number != here.first else "") + unit.text)
            block, last = unit.block, number
        missing = [(u.section, u.text) for n, u in enumerate(index.units) if n not in self.chosen]
        out.append(render.left_out(article, missing, max(60, self.max_chars // 10)))
        return "\n\n".join(out)
