"""When the best title is clearly the one that was meant, so that its article can be read without asking.

The limits were chosen, out of 20 tried, on queries/title_queries.jsonl. On the same queries, 72 % of the `_spelling`
sets are read without asking, 97 % of these rightly; of all queries but the questions 51 %, of which 96 % rightly where
the query is no title itself (`python -m benchmarks.titles` prints it).
"""

from __future__ import annotations

from .normalise import normalise, words
from .search import Scored
from .variants import ROMAN

MIN_LIKENESS = 0.8  # of the letters of query and title
MIN_COVERED = 0.7  # of the query by the title, and of the title by the query
MIN_LEAD = 0.05  # of its score over that of the next article


def is_clear(query: str, best: Scored, runner_up: Scored | None) -> bool:
    """Whether the query is another spelling of the best title, and no title of another article comes near."""
    if numbers(query) != numbers(best.title):
        return False
    if min(best.covered, best.title_covered) < MIN_COVERED or likeness(query, best.title) < MIN_LIKENESS:
        return False
    return runner_up is None or best.score - runner_up.score >= MIN_LEAD


def likeness(query: str, title: str) -> float:
    """How much of the letters is the same: as written, in any order of the words, or without spaces."""
    from rapidfuzz.distance import OSA

    one, other = ([ROMAN.get(word, word) for word in normalise(each).split()] for each in (query, title))
    ways = (
        (" ".join(one), " ".join(other)),
        (" ".join(sorted(one)), " ".join(sorted(other))),
        ("".join(one), "".join(other)),
    )
    return max(OSA.normalized_similarity(*way) for way in ways)


def numbers(title: str) -> set[str]:
    """What tells apart titles that look alike: numbers, roman ones too, and single letters.

    >>> numbers("World War II") == numbers("world war 2"), numbers("World War I") == numbers("World War II")
    (True, False)
    """
    found = words(title)
    return {
        ROMAN.get(word, word)
        for word in found
        if word in ROMAN or (len(word) == 1 and word.isascii()) or any(letter.isdigit() for letter in word)
    }
