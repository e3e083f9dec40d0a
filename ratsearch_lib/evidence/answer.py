"""An answer's sentences, where they end in it, and what of them is quoted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..text import STOP_WORDS, folded_words, sentences, words
from .forms import EMPTY

MIN_QUOTED = 4  # words; what is shorter is a name, a title or a manner of speaking
MAX_SENTENCES = 200  # of an answer; what follows is not looked at

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_LEADER = re.compile(r"(?:[ \t]*(?:>|[-+*•](?=\s)|#{1,6}(?=\s)|\d{1,3}[.)](?=\s)))*[ \t]*")
_ATTRIBUTION = re.compile(r"[—–-]\s*\S")
_RULE = re.compile(r"[\s|:*_=-]*")
_CITATION = re.compile(r"\[\d{1,3}\]")
_QUOTED = re.compile(r"“([^“”]+)”|«([^«»]+)»|„([^„“”]+)[“”]|「([^「」]+)」|『([^『』]+)』|(?<!\w)\"([^\"]+)\"(?!\w)")
_QUOTES = ' \t\n"“”„«»「」『』'
_GAP = re.compile(r"\[?(?:…|\.\.\.)\]?|\[[^\]]*\]")
_META = re.compile(
    r"(?:let me know|feel free|i hope|i have|i've|i am|i'm|i can|i could|i will|i'll|i found|i read|i would|i do"
    r"|i don't|here (?:is|are)|see the article|would you|do you)\b",
    re.IGNORECASE,
)
_GREETINGS = frozenset(
    """hi hello hey welcome thanks thank please sorry great glad happy help sure certainly course absolutely yes
    okay ok good morning evening day
    bye goodbye question questions ask hallo danke bitte bonjour merci salut hola gracias ciao grazie olá obrigado
    привет спасибо""".split()
)


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of an answer.

    text     without the marks of lists, quotations and headings before it; `answer[start:end]` is the same text
    quoted   what of it is quoted, in pieces between "…"
    claims   whether it says anything that could be checked
    """

    text: str
    start: int
    end: int
    quoted: tuple[str, ...]
    claims: bool


def split(answer: str) -> list[Said]:
    """The sentences of an answer, which is Markdown; code is passed over.

    >>> [(said.text, said.claims) for said in split("Sure! **Oslo** is a city.")]
    [('Sure!', False), ('**Oslo** is a city.', True)]
    """
    answer = _FENCE.sub(lambda code: " " * len(code[0]), answer)
    spans = [match.span() for match in _QUOTED.finditer(answer) if _is_quotation(match[0])]
    unmarked = answer.replace("*", "'")
    found: list[Said] = []
    start = 0
    for line in answer.splitlines(keepends=True):
        if len(found) >= MAX_SENTENCES:
            break
        leader = _LEADER.match(line)[0]
        body = line[len(leader) :].rstrip()
        at = start + len(leader)
        start += len(line)
        if not body or _RULE.fullmatch(body):
            continue
        block = ">" in leader
        if (block and _ATTRIBUTION.match(body)) or "#" in leader:
            continue
        for masked in sentences(body.replace("*", "'")):  # emphasis may stand where a sentence begins
            at = unmarked.index(masked, at)
            end = at + len(masked)
            sentence = answer[at:end]
            quoted = [sentence] if block else [answer[max(at, a) : min(end, b)] for a, b in spans if a < end and at < b]
            pieces = [piece.strip(_QUOTES) for text in quoted for piece in _GAP.split(text)]
            pieces = [piece for piece in pieces if folded_words(piece)]
            found.append(Said(sentence, at, end, tuple(pieces), _claims(sentence, bool(pieces))))
            at = end
    return found


def plain(sentence: str) -> str:
    """A sentence without Markdown's marks and citations."""
    return _CITATION.sub("", sentence).replace("*", "").replace("`", "").replace("__", "")


def _is_quotation(text: str) -> bool:
    return len(folded_words(text)) >= MIN_QUOTED


def _claims(sentence: str, quotes: bool) -> bool:
    text = plain(sentence).strip(" \t\"'“”»«()_")
    if not quotes and (text.endswith(("?", "？", ":")) or _META.match(text)):
        return False
    said = words(text)
    return any(word not in STOP_WORDS and word not in EMPTY and word not in _GREETINGS for word in said)
