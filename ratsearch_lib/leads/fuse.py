"""Matches by title and matches by text, in one list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..titles import TitleMatch

if TYPE_CHECKING:
    from ..archive import Entry
    from .index import LeadMatch

# Chosen on queries/title_queries.jsonl (`python -m benchmarks.title_leads`); a strong score of .45 or .5,
# one to five strong matches, and a constant of 10 or 60 differ by less than .01 over all.
STRONG = 0.45  # the score of a title match that stays before whatever texts say
MAX_STRONG = 3
RANK_CONSTANT = 10


def fuse(by_title: Sequence[TitleMatch], by_text: Sequence[LeadMatch | Entry], limit: int = 20) -> list[TitleMatch]:
    """One list of the matches by title and those by text (of a `LeadIndex`, or of an archive's full-text index).

    The best titles stay first where they are strong matches. The rest is in order of reciprocal rank fusion, the sum of
    1 / (RANK_CONSTANT + rank) over both lists (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms
    Condorcet and individual Rank Learning Methods", 2009). What only its text found has the score 0.

    >>> from ratsearch_lib.leads import LeadMatch
    >>> titles = [TitleMatch("Rat", "Rat", 0.3, "Rat"), TitleMatch("Mole", "Mole", 0.2, "Mole")]
    >>> [match.title for match in fuse(titles, [LeadMatch("Mole", "Mole", 9.1), LeadMatch("Vole", "Vole", 8.7)])]
    ['Mole', 'Rat', 'Vole']
    """
    matches = {match.path: match for match in reversed(by_title)}
    scores: dict[str, float] = {}
    for ranked in (by_title, by_text):
        paths = dict.fromkeys(match.path for match in ranked)
        for rank, path in enumerate(paths, 1):
            scores[path] = scores.get(path, 0.0) + 1 / (RANK_CONSTANT + rank)
    for match in by_text:
        matches.setdefault(match.path, TitleMatch(match.title, match.path, 0.0, match.title))
    strong = [match.path for match in by_title[:MAX_STRONG] if match.score >= STRONG]
    order = dict.fromkeys([*strong, *sorted(scores, key=scores.__getitem__, reverse=True)])
    return [matches[path] for path in order][:limit]
