"""Other ways to write the words of a query: corrected, abbreviated, joined, split."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .normalise import words as words_of

if TYPE_CHECKING:
    from .words import WordIndex

# Words that people and models add to a title without meaning a part of it.
_NOISE = """
    wikipedia wiki article page overview explained explanation fact summary definition meaning information info about
    tell me what is topic general concept disambiguation describe detail list of the a an in and for on to by
    who are was
"""
NOISE = frozenset(_NOISE.split())
_NUMERALS = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx"
ROMAN = {str(number): roman for number, roman in enumerate(_NUMERALS.split(), 1)}
ROMAN.update({roman: digits for digits, roman in list(ROMAN.items()) if len(roman) > 1})
LONG_FORMS = {
    "us": ("united", "state"),
    "usa": ("united", "state"),
    "uk": ("united", "kingdom"),
    "wwii": ("world", "war", "ii"),
    "ww2": ("world", "war", "ii"),
    "wwi": ("world", "war", "i"),
    "ww1": ("world", "war", "i"),
    "uae": ("united", "arab", "emirate"),
    "ussr": ("soviet", "union"),
}
SHORT_FORMS = {("united", "state"): "us", ("united", "kingdom"): "uk"}
SAME = {
    "and": "n",
    "n": "and",
    "first": "i",
    "second": "ii",
    "third": "iii",
    "mt": "mount",
    "dr": "doctor",
    "movie": "film",
    "st": "saint",
    "saint": "st",
}
CORRECTIONS = 8
RARE_TITLES, RARE_SHARE = 2000, 2e-5  # only words in fewer titles than these are taken for misspelt


@dataclass(frozen=True, slots=True)
class Variant:
    """places: which words of the query; words: what a title has instead; likeness 0…1; titles: how many hold them."""

    places: tuple[int, ...]
    words: tuple[str, ...]
    likeness: float
    titles: int


def variants(query: list[str], index: WordIndex) -> list[Variant]:
    """All variants that the index knows of, the words themselves first."""
    found: list[Variant] = []

    def add(places: tuple[int, ...], words: tuple[str, ...], likeness: float) -> None:
        titles = min(index.titles_with(word) for word in words)
        if titles:
            found.append(Variant(places, words, likeness, titles))

    for place, word in enumerate(query):
        add((place,), (word,), 1.0)
        if len(query) > 1 and word in ROMAN:
            add((place,), (ROMAN[word],), 0.95)
        if word in SAME:
            add((place,), (SAME[word],), 0.8)
        if word in LONG_FORMS:
            add((place,), LONG_FORMS[word], 0.95)
        if place + 1 < len(query):
            pair = (word, query[place + 1])
            if pair in SHORT_FORMS:
                add((place, place + 1), (SHORT_FORMS[pair],), 0.95)
            if not any(each.isdigit() for each in pair) and len(word + pair[1]) > 3 and (word + pair[1]).isascii():
                add((place, place + 1), (words_of(word + pair[1])[0],), 0.9)
        titles = index.titles_with(word)
        if len(word) >= 3 and not word.isdigit() and titles <= max(5, min(RARE_TITLES, index.count * RARE_SHARE)):
            for other, likeness, others_titles in corrections(word, index):
                if not titles or others_titles >= titles * 4 or likeness >= 0.85:
                    add((place,), (other,), likeness * 0.95 if titles else likeness)
            for left, right in splits(word, titles, index):
                add((place,), (left, right), 0.85)
    return found


def corrections(word: str, index: WordIndex) -> list[tuple[str, float, int]]:
    """Known words that this may be a misspelling of: (word, likeness, titles), best first."""
    from rapidfuzz.distance import OSA

    length = len(word)
    others: dict[str, None] = {}
    if length <= 32:
        others.update(dict.fromkeys(index.within_one_edit(word, 12)))
    if length >= 6:
        others.update(dict.fromkeys(index.sharing_trigrams(word, 40)))
    max_edits = 1 if length < 6 else 2
    found = []
    for other in others:
        edits = OSA.distance(word, other, score_cutoff=max_edits)
        if other == word or edits > max_edits:
            continue
        likeness = 1 - edits / max(length, len(other))
        if other[0] != word[0]:
            likeness *= 0.93  # the first letter is rarely wrong
        titles = index.titles_with(other)
        found.append((likeness + 0.02 * math.log(titles + 1), other, likeness, titles))
    found.sort(key=lambda each: (-each[0], each[1]))
    return [(other, likeness, titles) for _, other, likeness, titles in found[:CORRECTIONS]]


def splits(word: str, titles: int, index: WordIndex) -> list[tuple[str, str]]:
    """The two likeliest ways to cut a joined word in two known ones."""
    if len(word) < 5 or not word.isascii():
        return []
    found = []
    for cut in range(2, len(word) - 1):
        left, right = words_of(word[:cut])[0], words_of(word[cut:])[0]
        both = min(index.titles_with(left), index.titles_with(right))
        if both >= max(2, titles * 3):
            found.append((both * min(len(left), len(right)) ** 2, left, right))
    found.sort(key=lambda each: (-each[0], each[1]))
    return [(left, right) for _, left, right in found[:2]]
