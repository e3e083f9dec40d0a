"""A list of titles as long as English Wikipedia's, with the real ones inside.

Made titles are spliced from real ones, so that words are as frequent as they are there, plus the kinds that fill an
encyclopedia: seasons, places, people with a parenthesis. About a third are redirects: other cases, no accents, plurals,
other orders. The same numbers give the same list always.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator

SEED = 7
REDIRECTS = 0.35
PARENTHESES = (
    "film album song band novel politician footballer TV series actor village river ship genus 2009 film".split()
)
PLACES = "Ohio Bavaria Ontario Kent Punjab Texas Victoria Kansas Poland Brazil Kerala Iran Norway Peru".split()
CLUBS = "F.C. United Rovers Rangers season Cup Tigers Eagles Lions Hawks".split()


def made_titles(count: int, real: list[str], redirects: dict[str, str]) -> Iterator[tuple[str, str | None]]:
    """`count` pairs (title, target or None): the real ones first, then made ones."""
    known = set(real)
    left = count
    for title in real[:count]:
        target = redirects.get(title)
        yield title, target if target in known else None
        left -= 1
    rng = random.Random(SEED)
    plain = [title for title in real if " " in title and "(" not in title]
    while left > 0:
        title = _title(rng, plain)
        yield title, None
        left -= 1
        while left > 0 and rng.random() < REDIRECTS:
            yield _other_title(rng, title), title
            left -= 1


def _title(rng: random.Random, plain: list[str]) -> str:
    one, other = rng.choice(plain).split(), rng.choice(plain).split()
    spliced = " ".join(one[: rng.randint(1, 2)] + other[-rng.randint(1, 2) :])
    kind = rng.random()
    if kind < 0.55:
        return spliced
    if kind < 0.7:
        return f"{spliced} ({rng.choice(PARENTHESES)})"
    if kind < 0.8:
        return f"{spliced}, {rng.choice(PLACES)}"
    if kind < 0.9:
        year = rng.randint(1880, 2024)
        return f"{year}–{(year + 1) % 100:02} {spliced} {rng.choice(CLUBS)}"
    syllables = "".join(rng.choice("bcdfghklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(2, 4)))
    return f"{syllables.capitalize()} {other[-1]}"


def _other_title(rng: random.Random, title: str) -> str:
    words = title.split()
    kind = rng.random()
    if kind < 0.3:
        return title.capitalize()
    if kind < 0.5:
        return "".join(each for each in unicodedata.normalize("NFKD", title) if not unicodedata.combining(each)) + "s"
    if kind < 0.75:
        return " ".join([f"{words[-1]},", *words[:-1]])
    return f"The {title}"
