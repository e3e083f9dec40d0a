"""Other ways to write the words of a query: corrected, inflected, abbreviated, joined, split."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .normalise import words as words_of

if TYPE_CHECKING:
    from .words import WordIndex

# Words that people and models add to a title without meaning a part of it,
_NOISE = """
    wikipedia wiki article page overview explained explanation fact summary definition meaning information info about
    topic general concept disambiguation describe detail list of the a an in and for on to by tell me what is who are
    was
"""
NOISE = frozenset(_NOISE.split())
# and those that make a question of it. (In a title they mean something: "Give Me All Your Luvin'".)
_QUESTION = """
    at as with from or tell me give show name find all any i do does did is are was were be been has have had can could
    will would should who whom whose what which where when why how many much that this there it its their his her he
    she they list
"""
QUESTION = frozenset(_QUESTION.split())
_OPENINGS = """
    who whom whose what which where when why how is are was were do does did can could in on at to for give tell show
    name list find
"""
OPENINGS = frozenset(_OPENINGS.split())
TITLES_OF_PEOPLE = frozenset(("dr", "jr", "sr", "mr", "mrs", "ms", "sir"))
MIN_QUESTION = 4


def is_question(text: str, words: list[str]) -> bool:
    """Whether the text asks something, rather than being more or less a title."""
    return len(words) >= MIN_QUESTION and (text.rstrip().endswith("?") or words[0] in OPENINGS)


def minor_words(words: list[str], *, question: bool) -> set[str]:
    """Those of the words that say little about what is meant; none where there are no others ("The Who").

    >>> sorted(minor_words(["who", "was", "jacque", "chirac"], question=True))
    ['was', 'who']
    """
    noise = NOISE | QUESTION if question else NOISE
    minor = {word for word in words if word in noise or word in TITLES_OF_PEOPLE or (len(word) == 1 and word.isalpha())}
    return minor if len(minor) < len(set(words)) else set()


_TENS = ["", "x", "xx", "xxx", "xl", "l", "lx"]
_ONES = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"]
# to 69, which covers kings, popes and Super Bowls; "l" alone is a letter
ROMAN = {tens + ones: str(10 * i + j) for i, tens in enumerate(_TENS) for j, ones in enumerate(_ONES)}
del ROMAN[""], ROMAN["l"]
_CARDINALS = "one two three four five six seven eight nine ten eleven twelve"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ENDINGS = "st nd rd th th th th th th th th th"
LONG_FORMS = {
    "us": ("united", "state"),
    "usa": ("united", "state"),
    "uk": ("united", "kingdom"),
    "eu": ("european", "union"),
    "wwii": ("world", "war", "ii"),
    "ww2": ("world", "war", "ii"),
    "wwi": ("world", "war", "i"),
    "ww1": ("world", "war", "i"),
    "uae": ("united", "arab", "emirate"),
    "ussr": ("soviet", "union"),
}
SHORT_FORMS = {("united", "state"): "us", ("united", "kingdom"): "uk", ("european", "union"): "eu"}


def _same_words() -> dict[str, list[tuple[str, float]]]:
    """word → words that mean the same in a title, with their likeness."""
    same: dict[str, list[tuple[str, float]]] = {}

    def add(one: str, other: str, likeness: float) -> None:
        same.setdefault(one, []).append((other, likeness))
        same.setdefault(other, []).append((one, likeness))

    for roman, number in ROMAN.items():
        add(number, roman, 0.95)
    for number, (cardinal, ordinal, ending, roman) in enumerate(
        zip(_CARDINALS.split(), _ORDINALS.split(), _ENDINGS.split(), ROMAN, strict=False), 1
    ):
        add(str(number), cardinal, 0.9)
        add(f"{number}{ending}", ordinal, 0.95)
        add(ordinal, roman, 0.8)
    for pair in ("mt mount", "dr doctor", "movie film", "st saint", "jr junior", "jr ii", "and n", "v versus"):
        add(*pair.split(), 0.8)
    return same


SAME = _same_words()
_SUFFIXES = """
    a al an ation e ean ed er ese i ia ial ian ic ical ing ion is ish ism ist ity o on or ry s um us y
"""
SUFFIXES = frozenset(["", *_SUFFIXES.split()])
CORRECTIONS = 8
SOUNDS = 6
TRIGRAMS_SUFFICE = 10  # letters: one edit leaves enough trigrams to find a longer word by
RARE_TITLES, RARE_SHARE = 2000, 2e-5  # words in fewer titles than these are taken for misspelt at once
MIN_STEM = 3
MAX_ACRONYM = 6  # letters


@dataclass(frozen=True, slots=True)
class Variant:
    """places: which words of the query; words: what a title has instead; likeness 0…1; titles: how many hold them."""

    places: tuple[int, ...]
    words: tuple[str, ...]
    likeness: float
    titles: int


def variants(query: list[str], fixed: set[str], index: WordIndex, *, wide: bool = False) -> list[Variant]:
    """All variants that the index knows of, the words themselves first.

    fixed  words that are taken as they are, if the index knows them
    wide   also corrections of words that are known, and other inflections: dearer, for when nothing matched well.
    """
    found: list[Variant] = []

    def add(places: tuple[int, ...], words: tuple[str, ...], likeness: float) -> None:
        titles = min(index.titles_with(word) for word in words)
        if titles:
            found.append(Variant(places, words, likeness, titles))

    for place, word in enumerate(query):
        here = (place,)
        add(here, (word,), 1.0)
        for other, likeness in SAME.get(word, ()):
            if len(query) > 1:
                add(here, (other,), likeness)
        if word in LONG_FORMS:
            add(here, LONG_FORMS[word], 0.95)
        if place + 1 < len(query):
            pair = (word, query[place + 1])
            if pair in SHORT_FORMS:
                add((place, place + 1), (SHORT_FORMS[pair],), 0.95)
            joined = "".join(pair)
            if joined.isascii() and len(joined) > 3 and not any(each.isdigit() for each in pair):
                add((place, place + 1), (words_of(joined)[0],), 0.9)
        if len(word) < 3 or word.isdigit():
            continue
        titles = index.titles_with(word)
        rare = titles <= max(5, min(RARE_TITLES, index.count * RARE_SHARE))
        if rare or (wide and word not in fixed):
            for other, likeness in corrections(word, index):
                if not titles or likeness >= 0.7:
                    add(here, (other,), likeness * 0.95 if titles else likeness)
        elif word not in fixed:
            for other, likeness in alike(word, index.sounding_like(word, SOUNDS), [], index):
                add(here, (other,), likeness * 0.9)
        if rare or (wide and word not in fixed):
            for left, right in splits(word, titles, index):
                add(here, (left, right), 0.85)
        if wide and word not in fixed:
            for other in inflections(word, index):
                add(here, (other,), 0.75)
    if wide and 3 <= len(query) <= MAX_ACRONYM and all(word.isascii() and word.isalpha() for word in query):
        add(tuple(range(len(query))), ("".join(word[0] for word in query),), 0.5)  # Home Box Office: HBO
    return found


def corrections(word: str, index: WordIndex) -> list[tuple[str, float]]:
    """Known words that this may be a misspelling of, with their likeness, best first."""
    others: list[str] = []
    if len(word) < TRIGRAMS_SUFFICE:
        others += index.within_one_edit(word, 12)
    if len(word) >= 5:
        others += index.sharing_trigrams(word, 150)
    return alike(word, index.sounding_like(word, SOUNDS), others, index)


def alike(word: str, sounding: list[str], others: list[str], index: WordIndex) -> list[tuple[str, float]]:
    """Which of these words are like it in sound or in spelling, with their likeness, best first."""
    from rapidfuzz.distance import OSA

    length = len(word)
    max_edits = 1 if length < 5 else 2
    likenesses = {}
    for other in others:
        edits = OSA.distance(word, other, score_cutoff=max_edits)
        if edits <= max_edits:
            likeness = 1 - edits / max(length, len(other))
            likenesses[other] = likeness if other[0] == word[0] else likeness * 0.93  # the first is rarely wrong
    for other in sounding:
        likeness = OSA.normalized_similarity(word, other)
        likenesses[other] = max(likeness, 0.6 + 0.3 * likeness)
    likenesses.pop(word, None)
    found = [
        (likeness + 0.02 * math.log(index.titles_with(other) + 1), other, likeness)
        for other, likeness in likenesses.items()
    ]
    found.sort(key=lambda each: (-each[0], each[1]))
    return [(other, likeness) for _, other, likeness in found[:CORRECTIONS]]


def inflections(word: str, index: WordIndex) -> list[str]:
    """Known words with the same stem: tunisian → tunisia, octahedral → octahedron."""
    if not word.isascii():
        return []
    stems = [word[: len(word) - len(suffix)] for suffix in SUFFIXES if word.endswith(suffix)]
    found: dict[str, int] = {}
    for stem in stems:
        if len(stem) >= MIN_STEM:
            for suffix in SUFFIXES:
                other = stem + suffix
                if other != word and (titles := index.titles_with(other)):
                    found[other] = titles
    return sorted(found, key=lambda other: (-found[other], other))[:CORRECTIONS]


def splits(word: str, titles: int, index: WordIndex) -> list[tuple[str, str]]:
    """The two likeliest ways to cut a joined word in two known ones."""
    if len(word) < 5 or not word.isascii():
        return []
    found = []
    for cut in range(2, len(word) - 1):
        left, right = words_of(word[:cut])[0], words_of(word[cut:])[0]
        both = min(index.titles_with(left), index.titles_with(right))
        if both >= max(1, titles * 3):
            found.append((both * min(len(left), len(right)) ** 2, left, right))
    found.sort(key=lambda each: (-each[0], each[1]))
    return [(left, right) for _, left, right in found[:2]]
