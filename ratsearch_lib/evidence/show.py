"""Evidence in words: a summary, a line a sentence, and citations ``[1]`` in the answer's own text."""

from __future__ import annotations

from collections.abc import Sequence

from .check import SentenceEvidence

FOUND = ("verbatim", "supported")
_MOST_TITLES = 3


def is_found(each: SentenceEvidence) -> bool:
    """Whether the text bears a sentence out.

    >>> is_found(SentenceEvidence("A rat is a rodent.", "supported"))
    True
    """
    return each.verdict in FOUND


def summary(sentences: Sequence[SentenceEvidence]) -> str:
    """How many sentences were found, and where; "" where nothing is claimed.

    >>> summary([SentenceEvidence("A.", "supported", article="Ozone"), SentenceEvidence("B.", "not found")])
    '1 of 2 sentences found in Ozone'
    """
    claims = [each for each in sentences if each.verdict]
    found = [each for each in claims if is_found(each)]
    if not claims:
        return ""
    titles = list(dict.fromkeys(each.article for each in found if each.article))
    more = f" and {len(titles) - _MOST_TITLES} more" if len(titles) > _MOST_TITLES else ""
    where = ", ".join(titles[:_MOST_TITLES]) + more if titles else "what was read"
    return f"{len(found)} of {len(claims)} sentence{'' if len(claims) == 1 else 's'} found in {where}"


def verdict_words(each: SentenceEvidence) -> str:
    """A verdict in words, with what is missing.

    >>> verdict_words(SentenceEvidence("It weighs 1,270 kg.", "partly", article="Moose", missing=("1,270 kg",)))
    'partly in Moose, which lacks: 1,270 kg'
    """
    place = " § ".join(filter(None, (each.article, each.section))) or "what was read"
    match each.verdict:
        case None:
            return "claims nothing"
        case "verbatim":
            return f"verbatim in {place}"
        case "supported":
            return f"supported by {place}"
        case "partly":
            return f"partly in {place}" + (f", which lacks: {', '.join(each.missing)}" if each.missing else "")
        case _ if each.misquoted:
            return f"not found: nothing that was read says “{each.misquoted}”"
    return "not found in what was read"


def citations(sentences: Sequence[SentenceEvidence]) -> dict[tuple[str, str], int]:
    """The numbers of what is cited, by (source, article), in order of first use."""
    cited = dict.fromkeys((each.source, each.article) for each in sentences if is_found(each))
    return {key: number for number, key in enumerate(cited, 1)}


def mark(each: SentenceEvidence, numbers: dict[tuple[str, str], int]) -> str:
    """What stands after a sentence: ``[1]``; ``[?]`` where it is not borne out, or only partly; "" for no claim."""
    if each.verdict is None:
        return ""
    return f"[{numbers[each.source, each.article]}]" if is_found(each) else "[?]"


def cited(answer: str, sentences: Sequence[SentenceEvidence], *, doubts: bool = False) -> str:
    """The answer with its citations, and what they stand for below it: for export.

    doubts  mark what is not borne out, too

    >>> print(cited("It is blue.", [SentenceEvidence("It is blue.", "supported", article="Ozone", end=11)]))
    It is blue. [1]
    <BLANKLINE>
    [1] Ozone
    """
    numbers = citations(sentences)
    parts, at = [], 0
    for each in sentences:
        if at <= each.end <= len(answer) and (is_found(each) or (doubts and each.verdict)):
            parts += [answer[at : each.end], " ", mark(each, numbers)]
            at = each.end
    text = "".join(parts) + answer[at:]
    if not numbers:
        return text
    listed = "\n".join(
        f"[{number}] {article or source or 'what was read'}" for (source, article), number in numbers.items()
    )
    return f"{text.rstrip()}\n\n{listed}"
