"""How far a sentence is borne out by a passage: its words by rarity, names, numbers and negations all the more.

Weighted by rarity as in K. Sparck Jones, A statistical interpretation of term specificity and its application in
retrieval, 1972: a word that stands in few of the lines that were read says more than one that stands in all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from ..text import STOP_WORDS, folded_words, words
from .answer import plain
from .forms import BEGINNING, CJK_NEGATIONS, EMPTY, LIGHT, LIMITS, MONTHS, NEGATIONS, alike, common_words, form
from .numbers import Number, numbers
from .sources import Line, Piece, Sources

NAME_WEIGHT, NUMBER_WEIGHT, LIGHT_WEIGHT, CONTEXT_WEIGHT = 1.6, 2.0, 0.35, 0.3
MISSING_FACT, ASTRAY, OTHER_NEGATION = 0.45, 0.9, 0.3  # what is left of a score
TWO_PIECES = 0.93
LINES, WORTH_A_LOOK = 3, 0.65  # how many lines are looked at closely, and how near to the best they must come
DENIED_WITHIN = 4  # words after a negation
BESIDE, NEAR = 2, 7  # words beside a fact in the claim, of which one must be so near to it in the passage
REACH = 40  # words to each side among which those are looked for

_CAPITALISED = re.compile(r"[^\W\d_](?:[^\W_]|['’.](?=\w))*")
_KANA = re.compile("[\u3041-\u309f]")  # Japanese writes its particles and endings in these letters
_OPENING = "\"'“«„(*_ "
_IS_LIGHT = frozenset(form(word, "en") for word in LIGHT)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a claim: as it is written and folded, its form, whether it is a name, its weight, what is beside it."""

    written: str
    folded: str
    form: str
    is_name: bool
    weight: float
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Claim:
    """What of a sentence is looked for. `beside` each number: the words beside it."""

    words: tuple[Word, ...]
    numbers: tuple[Number, ...]
    beside: tuple[frozenset[str], ...]
    negated: bool
    limits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A passage, and how much of a claim it bears out.

    score    0 to 1
    share    of the claim's weight that stands in it, whatever speaks against it
    facts    whether no name, number, date or negation speaks against it
    missing  what it lacks, as the claim has it
    """

    score: float
    share: float
    facts: bool
    missing: tuple[str, ...]
    line: Line
    text: str


def claim_of(sentence: str, read: Sources) -> Claim:
    """What is to be looked for in what was read, in its language."""
    text = plain(sentence)
    language = read.language
    common = common_words(language)
    names = _names(text, read)
    said = [
        (word, form(word, language), _is_fact(word, names))
        for word in folded_words(text)
        if (word in names and word in MONTHS)
        or not (word in common or word in STOP_WORDS or word in EMPTY or _KANA.search(word))
    ]
    found: dict[str, Word] = {}
    beside: dict[str, frozenset[str]] = {}
    for n, (word, key, is_fact) in enumerate(said):
        if word in NEGATIONS or word in LIMITS or key in found:
            continue
        around = _beside(said, n) if is_fact else frozenset()
        if key[0].isdigit():
            beside.setdefault(key, around)
        else:
            weight = _rarity(word, read) * (NAME_WEIGHT if is_fact else LIGHT_WEIGHT if key in _IS_LIGHT else 1.0)
            found[key] = Word(names.get(word, word), word, key, is_fact, weight, around)
    told = numbers(text) + [
        number for word, key, _ in said if key.isdigit() and not word.isdigit() for number in numbers(key)
    ]
    near = tuple(next((beside[value] for value in each.values if value in beside), frozenset()) for each in told)
    spoken = words(text)
    return Claim(
        tuple(found.values()), tuple(told), near, _is_negated(spoken, text), tuple(w for w in spoken if w in LIMITS)
    )


def _is_empty(word: str, common: frozenset[str]) -> bool:
    return word in common or word in STOP_WORDS or word in EMPTY or bool(_KANA.search(word))


def _is_fact(word: str, names: dict[str, str]) -> bool:
    return word in names or (word in MONTHS and word not in STOP_WORDS) or any(c.isdigit() for c in word)


def _beside(said: Sequence[tuple[str, str, bool]], n: int) -> frozenset[str]:
    """The beginnings of the nearest words on both sides that are no facts themselves."""
    found = set()
    for side in (said[n + 1 : n + 1 + REACH], said[max(0, n - REACH) : n][::-1]):
        near = [key for _, key, is_fact in side if not is_fact and key not in _IS_LIGHT][:BESIDE]
        found.update(key[:BEGINNING] for key in near)
    return frozenset(found)


def _rarity(word: str, read: Sources) -> float:
    n = len(read.lines) + 1
    return 0.5 + log(1 + n / (1 + len(read.lines_with(word)))) / log(1 + n)


def _names(text: str, read: Sources) -> dict[str, str]:
    """The names of a sentence by their folded words. The first word is one where all that was read capitalises it."""
    found = {}
    opening = len(text) - len(text.lstrip(_OPENING))
    for match in _CAPITALISED.finditer(text):
        if not match[0][0].isupper():
            continue
        begins = match.start() <= opening
        for part in folded_words(match[0]):
            if not begins or (part not in STOP_WORDS and _is_always_name(part, read)):
                found[part] = match[0]
    return found


def _is_always_name(word: str, read: Sources) -> bool:
    lines = read.lines_with(word)
    return bool(lines) and not any(f" {word}" in read.lines[n].text for n in lines[:8])


def _is_negated(said: Sequence[str], text: str) -> bool:
    return any(word in NEGATIONS for word in said) or any(mark in text for mark in CJK_NEGATIONS)


def best_match(claim: Claim, read: Sources) -> Match | None:
    """The passage that bears out most of a claim: a sentence or row, or two neighbouring ones."""
    score: dict[int, float] = {}
    for word in claim.words:
        for number in read.lines_with(word.folded):
            score[number] = score.get(number, 0.0) + word.weight
    for each in claim.numbers:
        for value in each.values:
            for number in read.lines_with(value):
                score[number] = score.get(number, 0.0) + NUMBER_WEIGHT
    found: list[Match] = []
    best = sorted(score, key=lambda n: (-score[n], n))[:LINES]
    for number in best:
        if score[number] < WORTH_A_LOOK * score[best[0]]:
            break
        line = read.lines[number]
        pieces = line.pieces
        single = [_compare(claim, line, [piece]) for piece in pieces]
        found += single
        found += [
            _compare(claim, line, pieces[i : i + 2])
            for i in range(len(pieces) - 1)
            if single[i].score and single[i + 1].score and max(single[i].score, single[i + 1].score) < 0.95
        ]
    return max(found, key=lambda match: match.score, default=None)


def _compare(claim: Claim, line: Line, window: Sequence[Piece]) -> Match:
    total = covered = 0.0
    stands, bound, missing = True, True, []
    for word in claim.words:
        weight = word.weight
        if word.form in line.context:
            weight *= CONTEXT_WEIGHT
        total += weight
        if word.form in line.context:
            covered += weight
        elif key := _stands(word.form, window):
            if word.is_name and not _is_beside(key, word.beside, line, window):
                bound = False
                missing.append(word.written)
            covered += weight if key == word.form else 0.9 * weight
        else:
            missing.append(word.written)
            stands = stands and not word.is_name
    for number, beside in zip(claim.numbers, claim.beside, strict=True):
        total += NUMBER_WEIGHT
        value = _value(number, line, window)
        if value is None:
            stands = False
            missing.append(number.written)
            continue
        covered += NUMBER_WEIGHT
        if value and value not in line.context and not _is_beside(value, beside, line, window):
            bound = False
            missing.append(number.written)
    score = share = covered / total if total else 0.0
    if not stands:
        score *= MISSING_FACT + (1 - MISSING_FACT) * score * 0.5
    if not bound:
        score *= ASTRAY
    if score and (word := _opposed(claim, window)):
        score *= OTHER_NEGATION
        stands = False
        missing.append(word)
    if len(window) == 2:
        score *= TWO_PIECES
    return Match(score, share, stands and bound, tuple(missing), line, " ".join(piece.text for piece in window))


def _stands(key: str, window: Sequence[Piece]) -> str:
    """The form under which a word stands in the window, its own or one with another ending; "" if it does not."""
    for piece in window:
        if key in piece.bag:
            return key
    for piece in window if len(key) > BEGINNING else ():
        for other in piece.beginning_with(key[:BEGINNING]):
            if alike(key, other):
                return other
    return ""


def _is_beside(key: str, beside: frozenset[str], line: Line, window: Sequence[Piece]) -> bool:
    """Whether a fact stands near one of the words that it stands beside in the claim."""
    if not beside:
        return True
    for piece in window:
        for n, each in enumerate(piece.forms):
            if each == key:
                around = piece.forms[max(0, n - NEAR) : n + NEAR + 1]
                if any(other[:BEGINNING] in beside for other in around if other != key):
                    return True
    return False


def _value(number: Number, line: Line, window: Sequence[Piece]) -> str | None:
    """The value under which a number stands in the window, with the same unit where both have one."""
    for piece in window:
        if not any(value[0] in piece.text for value in number.values):
            continue
        same = [other for other in piece.numbers if number.values & other.values]
        united = [other for other in same if other.unit]
        if number.unit and united and len(united) == len(same):
            same = [other for other in united if other.unit == number.unit]
        if same:
            return next((value for value in sorted(number.values & same[0].values) if value in piece.bag), "")
    for value in sorted(number.values):
        if value in line.context or (not number.unit and any(value in piece.bag for piece in window)):
            return value
    return None


def _opposed(claim: Claim, window: Sequence[Piece]) -> str:
    """The negation, or the "only", that stands on one side only; "" for none."""
    there = [word for piece in window for word in piece.words]
    for limit in claim.limits:
        if limit not in there:
            return limit
    if claim.negated:
        return "" if _is_negated(there, "".join(piece.text for piece in window)) else "not"
    if NEGATIONS.isdisjoint(there):
        return ""
    mine = {word.form for word in claim.words}
    for n, word in enumerate(there):
        denied = there[n + 1 : n + 1 + DENIED_WITHIN] if word in NEGATIONS and word != "without" else ()
        if any(form(each, "en") in mine for each in denied):
            return "not"
    return ""
