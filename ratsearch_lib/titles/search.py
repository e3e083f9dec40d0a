"""From what was typed to the titles it may mean: variants of its words, candidates that hold them, a re-rank.

1. Every word of the query gets variants: itself, spelling corrections from the vocabulary, numerals, abbreviations,
   joined with its neighbour or split in two. Each has a likeness of at most 1.
2. Two queries find candidates: titles with any of the variants (BM25), titles with one variant of every word.
3. Candidates are scored by how much of the query they cover, how much of them it covers, and how alike they look.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from .normalise import exact_term, normalise, readable, words
from .variants import NOISE, OPENINGS, Variant, is_question, minor_words, variants

if TYPE_CHECKING:
    from .store import ArchiveTitles, StoredTitles
    from .words import WordIndex

MAX_QUERY_CHARS = 400
MAX_QUERY_WORDS = 24
ANY_OF, ALL_OF = 80, 40  # candidates
ANY_OF_MAX_TITLES = 200_000  # that hold any of the words: going through more takes too long
ALL_OF_MAX_TITLES = 200_000  # no intersection when even the rarest word is in more titles than this
COMMON, MUCH_RARER = 0.01, 4  # a word in more than 1 % of titles is not searched for beside one in a fourth of them
NOISE_WEIGHT = 0.35
NOISE_IN_TITLE, ASIDE_IN_TITLE = 0.3, 0.45  # of words that the query lacks

# Of the score. Searched on a sixth of title_queries.jsonl, checked on another sixth, then rounded; the weights of names
# and of parentheses below were set by hand on whole sets of it. Only queries that are not in that file are a fair test.
QUERY_COVERED, TITLE_COVERED, IN_ORDER, ANY_ORDER, CASE = 0.60, 0.26, 0.15, 0.08, 0.06
SAME, SAME_LETTERS, LITERAL = 0.10, 0.07, 0.02
PER_WORD = -0.01  # of two titles that fit as well, the shorter
SCALE = 1 / (QUERY_COVERED + TITLE_COVERED + IN_ORDER + ANY_ORDER + CASE + SAME + SAME_LETTERS + LITERAL + PER_WORD)

WELL_COVERED = 0.95  # of the query by a title: no need to look for other spellings
WIDE_MAX_WORDS = 8
MAX_NAMES, PER_NAME, PER_VARIANT = 4, 12, 4  # candidates
NAME_WEIGHT = 1.9  # of the words in names
ASIDE_WEIGHT = 0.6  # of words in a parenthesis at the query's end

_QUOTED = re.compile(r"[\"“]([^\"“”]{2,80})[\"”]")
_NAME = re.compile(r"\b[A-Z][\w.&'’-]*(?: (?:(?:of|the|and|de|da|von|van|in) )*[A-Z0-9][\w.&'’-]*)*")
_PARENTHESIS = re.compile(r"\(([^()]*)\)\s*$")


@dataclass(slots=True)
class Query:
    """What was typed, made ready: its words, their weights and variants."""

    text: str
    words: list[str]
    minor: set[str] = field(default_factory=set)  # those that say little
    names: list[list[str]] = field(default_factory=list)  # what a question names, in words
    aside: set[str] = field(default_factory=set)  # those in a parenthesis at the end
    weights: list[float] = field(default_factory=list)
    single: dict[str, list[tuple[int, float]]] = field(default_factory=dict)  # title word → (query word, likeness)
    several: list[Variant] = field(default_factory=list)  # variants that join or split words
    groups: list[dict[str, float]] = field(default_factory=list)  # per query word: title words → likeness
    frequencies: list[int] = field(default_factory=list)  # per query word: titles with its most frequent variant


class Scored(NamedTuple):
    """A title in the index, and how well it fits a query.

    covered, title_covered  the shares of the query's words and of the title's that are found in the other
    same_words              all of them are, in the same order, but for plurals
    """

    score: float
    position: int
    title: str
    covered: float = 1.0
    title_covered: float = 1.0
    same_words: bool = True


def find(text: str, index: WordIndex, titles: ArchiveTitles | StoredTitles) -> list[Scored]:
    """The titles nearest to the text, best first."""
    cut: dict[int, Cut] = {}
    found: list[Scored] = []
    several = len(words(text[:MAX_QUERY_CHARS])) > 1
    query = prepare(text, index, wide=not several)
    if several:
        found = rank(query, candidates(query, index, quick=True), index, titles, cut)
        if any(each.covered > WELL_COVERED and not each.same_words for each in found):
            return found
        if len(query.words) <= WIDE_MAX_WORDS:
            query = prepare(text, index, wide=True)
    positions = dict.fromkeys([*candidates(query, index), *(each.position for each in found)])
    return rank(query, list(positions), index, titles, cut)


def prepare(text: str, index: WordIndex, *, wide: bool = False) -> Query:
    text = readable(text[:MAX_QUERY_CHARS])
    query = Query(text, words(text)[:MAX_QUERY_WORDS])
    if query.words[-1:] == ["list"] and len(query.words) > 1:  # "dog breeds list": an encyclopedia has it the other way
        query.words = ["list", "of", *query.words[:-1]]
    count = len(query.words)
    query.groups = [{} for _ in range(count)]
    query.frequencies = [1] * count
    question = is_question(text, query.words)
    query.minor = minor_words(query.words, question=question)
    fixed = set(query.words) if question else query.minor  # a question's words are rarely misspelt into other words
    for variant in variants(query.words, fixed, index, wide=wide):
        if len(variant.places) == len(variant.words) == 1:
            query.single.setdefault(variant.words[0], []).append((variant.places[0], variant.likeness))
        else:
            query.several.append(variant)
        for place in variant.places:
            if variant.likeness >= 0.6:
                query.frequencies[place] = max(query.frequencies[place], variant.titles)
            group = query.groups[place]
            for word in variant.words:
                group[word] = max(variant.likeness, group.get(word, 0.0))
    query.names = [words(name) for name in names(text)] if question else []
    named = {word for name in query.names for word in name}
    parenthesis = _PARENTHESIS.search(text)
    query.aside = set(words(parenthesis.group(1))) - set(words(text[: parenthesis.start()])) if parenthesis else set()
    for place, word in enumerate(query.words):
        known = bool(query.groups[place])
        weight = index.weight_of(query.frequencies[place]) if known else index.rare_weight * 0.6
        if word in query.minor:
            weight *= NOISE_WEIGHT
        elif word in query.aside:
            weight *= ASIDE_WEIGHT
        elif word in named:
            weight *= NAME_WEIGHT
        query.weights.append(weight)
    return query


def names(text: str) -> list[str]:
    """What a question names: its quotations, and its runs of words in capitals.

    >>> names('Which river does the Brooklyn Bridge cross in "Man on Wire"?')
    ['Man on Wire', 'Brooklyn Bridge']
    """
    quoted = [match.group(1) for match in _QUOTED.finditer(text)]
    rest = _QUOTED.sub(" ", text).strip()
    first, _, others = rest.partition(" ")
    found = [match.group() for match in _NAME.finditer(rest if first.lower() not in OPENINGS else others)]
    return [*quoted, *found][:MAX_NAMES]


def candidates(query: Query, index: WordIndex, *, quick: bool = False) -> list[int]:
    """Positions of titles worth a closer look, without repetition; with `quick`, only as far as they are cheap."""
    found: list[int] = []
    extra = exact_term(query.text)
    if extra and index.titles_with(extra):
        found += index.any_of({extra: 1.0}, ALL_OF)
    known = [place for place, group in enumerate(query.groups) if group]
    if not known:
        return found
    telling = [query.frequencies[place] for place in known if query.words[place] not in query.minor]
    rarest = min(telling, default=0)
    boosts: dict[str, float] = {}
    for place in known:
        if query.frequencies[place] > index.count * COMMON and 0 < rarest < query.frequencies[place] / MUCH_RARER:
            continue
        for word, likeness in query.groups[place].items():
            # so that a rare misspelling does not outweigh the word it stands for
            boost = query.weights[place] / index.weight_of(index.titles_with(word)) * likeness**2
            boosts[word] = max(boost, boosts.get(word, 0.0))
    affordable = _affordable(boosts, index)
    found += index.any_of(affordable, ANY_OF)
    quick = quick and len(affordable) == len(boosts)
    if len(known) > 1 and rarest < ALL_OF_MAX_TITLES and not quick:
        found += index.all_of([query.groups[place] for place in known], ALL_OF)
        core = [place for place in known if query.words[place] not in query.aside]
        if 0 < len(core) < len(known):  # what the parenthesis says may be wrong
            found += index.all_of([query.groups[place] for place in core], ALL_OF)
    if len(query.words) == 1:  # "Roberto": one that is called "Robert" alone, among hundreds of "Roberto …"
        for word in query.groups[0]:
            found += index.any_of({word: 1.0}, PER_VARIANT)
    for name in filter(None, query.names):
        found += index.all_of([{word: 1.0} for word in dict.fromkeys(name)], PER_NAME)
    return list(dict.fromkeys(found))


def _affordable(boosts: dict[str, float], index: WordIndex) -> dict[str, float]:
    """Those of the words, the rarest first, that are in at most ANY_OF_MAX_TITLES together; at least one."""
    kept: dict[str, float] = {}
    titles = 0
    for word in sorted(boosts, key=lambda word: (index.titles_with(word), word)):
        titles += index.titles_with(word)
        if kept and titles > ANY_OF_MAX_TITLES:
            break
        kept[word] = boosts[word]
    return kept


def rank(
    query: Query,
    positions: list[int],
    index: WordIndex,
    titles: ArchiveTitles | StoredTitles,
    cut: dict[int, Cut],
) -> list[Scored]:
    """The candidates, best first; ties go by position, the same way every time.

    cut  remembers titles and their words by position, for a second pass
    """
    for position in positions:
        if position not in cut:
            cut[position] = _cut(titles.title(position))
    positions = [position for position in positions if cut[position].title]
    typed = " ".join(query.words)
    likenesses = zip(
        _ratios(typed, [cut[position].joined for position in positions]),
        _ratios(" ".join(sorted(query.words)), [cut[position].sorted for position in positions]),
        _ratios(query.text[:1].upper() + query.text[1:], [cut[position].title for position in positions]),
        strict=True,
    )
    lowered, key = query.text.lower(), normalise(query.text)
    weights: dict[str, float] = {}
    scored = []
    for position, (in_order, any_order, case) in zip(positions, likenesses, strict=True):
        title = cut[position]
        covered, title_covered = _coverage(query, title, index, weights)
        score = QUERY_COVERED * covered + TITLE_COVERED * title_covered
        score += IN_ORDER * in_order + ANY_ORDER * any_order + CASE * case + PER_WORD * title.count
        same_words = title.joined == typed
        if same_words and normalise(title.title) == key:
            score += SAME
        if len(title.title) == len(lowered) and title.title.lower() == lowered:
            score += SAME_LETTERS
        if title.title == query.text:
            score += LITERAL
        score = min(1.0, max(0.0, score * SCALE))
        scored.append(Scored(score, position, title.title, covered, title_covered, same_words))
    scored.sort(key=lambda each: (-each.score, each.position))
    return scored


class Cut(NamedTuple):
    """A title and its words: how many, which, which of them in a parenthesis at the end; in order, in any order."""

    title: str
    count: int
    words: tuple[str, ...]  # each once, in order: sums over them are the same on every run
    aside: frozenset[str]
    joined: str
    sorted: str


def _cut(title: str) -> Cut:
    found = words(title)
    parenthesis = _PARENTHESIS.search(title) if title[-1:] == ")" else None
    aside = frozenset(words(parenthesis.group(1))) if parenthesis else frozenset()
    return Cut(title, len(found), tuple(dict.fromkeys(found)), aside, " ".join(found), " ".join(sorted(found)))


def _ratios(text: str, others: list[str]) -> list[float]:
    """How alike in letters the text is to each of the others, 0…1."""
    from rapidfuzz import fuzz

    ratio = fuzz.ratio
    return [ratio(text, other) / 100 for other in others]


def _coverage(query: Query, title: Cut, index: WordIndex, weights: dict[str, float]) -> tuple[float, float]:
    """The shares of the query's words that are found in the title, and of the title's that are in the query.

    weights  remembers those of title words
    """
    likeness = [0.0] * len(query.words)  # of each query word to a title word
    matched: dict[str, float] = {}  # and of each title word to a query word
    single = query.single
    for word in title.words:
        best = 0.0
        for place, alike in single.get(word, ()):
            if alike > likeness[place]:
                likeness[place] = alike
            if alike > best:
                best = alike
        matched[word] = best
    for variant in query.several:
        if all(word in title.words for word in variant.words):
            for place in variant.places:
                likeness[place] = max(likeness[place], variant.likeness)
            for word in variant.words:
                matched[word] = max(matched[word], variant.likeness)
    total = found = 0.0
    for word, share in matched.items():
        weight = weights.get(word)
        if weight is None:
            noise = word in NOISE and word not in query.words
            weight = weights[word] = index.weight(word) * (NOISE_IN_TITLE if noise else 1.0)
        if share:
            found += weight * share
        elif word in title.aside:
            weight *= ASIDE_IN_TITLE
        total += weight
    covered = sum(map(mul, likeness, query.weights)) / (sum(query.weights) or 1.0)
    return covered, found / (total or 1.0)
