"""When the best match is clearly the article that was meant, so that it can be read without asking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .normalise import normalise

if TYPE_CHECKING:
    from .index import TitleMatch

MIN_LIKENESS = 0.8  # of the letters of query and title
MIN_LEAD = 0.05  # of its score over the next article's


def is_clear(query: str, matches: list[TitleMatch]) -> bool:
    """Whether the first of these matches for the query is it: spelt nearly the same, and no other comes near."""
    from rapidfuzz.distance import OSA

    if not matches:
        return False
    best = matches[0]
    typed, title = normalise(query), normalise(best.matched)
    if OSA.normalized_similarity(typed, title) < MIN_LIKENESS:
        return False
    return len(matches) == 1 or best.score - matches[1].score >= MIN_LEAD
