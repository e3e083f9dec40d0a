"""Which sentences of an answer the text that was read supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..tools import ReadResult
from .answer import Said, plain, split
from .compare import Match, best_match, claim_of
from .sources import Line, Sources, spaced

SUPPORTED, PARTLY = 0.8, 0.35  # of a claim's weight

Verdict = Literal["verbatim", "supported", "partly", "not found"]


@dataclass(frozen=True, slots=True)
class SentenceEvidence:
    """A sentence of an answer, and what of what was read bears it out.

    sentence    without the marks of lists and quotations before it: ``answer[start:end]``
    verdict     "verbatim": it stands in the text, or all that it quotes does; "supported": its words, names, numbers
                and dates stand together in one passage or two neighbouring ones; "partly": some do; "not found"; None:
                it claims nothing
    passage     what comes nearest ("" for none), of `article` and `section` ("": the lead); `source`: ``FILE.zim/PATH``
    missing     what the passage lacks, as the sentence has it: "1,270 kg"
    misquoted   what it quotes though it stands in no text ("": nothing)
    score       0 to 1, for ranking
    """

    sentence: str
    verdict: Verdict | None
    passage: str = ""
    article: str = ""
    section: str = ""
    source: str = ""
    missing: tuple[str, ...] = ()
    misquoted: str = ""
    score: float = 0.0
    start: int = 0
    end: int = 0


def check(answer: str, sources: Sequence[ReadResult]) -> list[SentenceEvidence]:
    """Hold each sentence of an answer (Markdown) against what was read, in order, without a model.

    Words are compared as `text.tokens` has them, weighted by rarity, so it works in any language that text.py knows.

    >>> [found] = check("The moose weighs 900 kg.", [ReadResult("Article: Moose\\n\\nA moose weighs 500 kg.", "Moose")])
    >>> found.verdict, found.missing
    ('partly', ('900 kg',))
    """
    read = Sources(sources)
    return [_held_against(said, read) for said in split(answer)]


def _held_against(said: Said, read: Sources) -> SentenceEvidence:
    if not said.claims:
        return SentenceEvidence(said.text, None, start=said.start, end=said.end)
    quoted_in: Line | None = None
    for piece in said.quoted:
        line = _line_with(piece, read)
        if line is None:
            return _found(said, best_match(claim_of(piece, read), read), "not found", misquoted=piece)
        quoted_in = quoted_in or line
    copied_in = _line_with(plain(said.text), read)
    if copied_in is not None:
        return _verbatim(said, copied_in, plain(said.text))
    match = best_match(claim_of(said.text, read), read)
    if quoted_in is not None and (match is None or match.facts):
        return _verbatim(said, quoted_in, said.quoted[0])
    if match is None or match.share < PARTLY:
        return _found(said, match, "not found")
    return _found(said, match, "supported" if match.facts and match.score >= SUPPORTED else "partly")


def _line_with(text: str, read: Sources) -> Line | None:
    """The line in which these words stand one after the other."""
    wanted = spaced(text)
    if not wanted.strip():
        return None
    lines = min((read.lines_with(word) for word in wanted.split()), key=len)
    return next((read.lines[n] for n in lines if wanted in read.lines[n].words), None)


def _verbatim(said: Said, line: Line, text: str) -> SentenceEvidence:
    wanted = spaced(text)
    passage = next((piece.text for piece in line.pieces if wanted in spaced(piece.text)), line.text)
    return _found(said, Match(1.0, 1.0, True, (), line, passage), "verbatim")


def _found(said: Said, match: Match | None, verdict: Verdict, misquoted: str = "") -> SentenceEvidence:
    place = {"start": said.start, "end": said.end}
    if match is None:
        return SentenceEvidence(said.text, verdict, misquoted=misquoted, **place)
    source = match.line.source
    return SentenceEvidence(
        said.text,
        verdict,
        match.text,
        source.title or "",
        match.line.section,
        source.source or "",
        () if verdict in ("verbatim", "supported") else match.missing,
        misquoted,
        round(match.score if not misquoted else 0.0, 4),
        **place,
    )
