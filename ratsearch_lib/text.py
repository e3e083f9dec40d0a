"""The analyzer: tokens and sentences for any script, shared by reading and documents."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of an article or document, and how well it answers the question.

    text     as it stands in the source: a paragraph, a sentence, or a table row with its header row
    section  the heading it stands under ("" for the lead)
    score    higher is better; 0 when nothing was asked
    """

    text: str
    section: str = ""
    score: float = 0.0


ANALYZER_VERSION = 1  # raise it when tokens() changes: an index keeps the version it was built with


def _word_list(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that say nothing about a text's subject, casefolded and unstemmed; the questions' own words included.
STOP_WORDS = _word_list(
    """a about above after again against all also although am an and any are aren as at be because been before being
    below between both but by can cannot could couldn did didn do does doesn doing don down during each either else
    ever every few for from further get had has have having he her here hers herself him himself his how however i if
    in into is isn it its itself just let ll may me might more most much must my myself no nor not of off on once one
    only onto or other our ours out over own per re s same shall she should since so some such t than that the their
    theirs them themselves then there these they this those though through thus to too under until up upon us ve very
    was wasn we were what whatever when where whether which while who whom whose why will with within without would
    yet you your yours"""
)

# The commonest words of other languages, the questions' own included: they tell which language a text is in.
COMMON_WORDS = {
    "en": STOP_WORDS,
    "de": _word_list(
        """der die das und in den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat
        dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis
        mehr durch man sein wurde wurden waren hatte worden kann können gibt ihre seine unter zwischen welche welcher
        welches welchem welchen wer wen wem wessen wann warum wo was viel viele"""
    ),
    "fr": _word_list(
        """de la le l d et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec son
        aux comme ou mais cette ses été être fait leur dont elle nous tout ont ces quel quelle quels quelles quand où
        combien qu comment pourquoi sa était"""
    ),
    "es": _word_list(
        """de la que el en y a los del se las por un para con no una su al lo como más pero sus le ya o este sí porque
        esta entre cuando muy sin sobre también hasta hay donde quien desde todo nos durante fue era qué cuál cuáles
        cuándo dónde quién quiénes cuánto cuánta cuántos cuántas cómo fueron son es está eran ser ha han había"""
    ),
    "it": _word_list(
        """di e il la che in un a per è una con non del si da i le come dei nel alla più della al sono lo ha gli anche
        dal ma delle ed era o nella fu cui questo quale quali quando dove chi cosa quanti quante"""
    ),
    "pt": _word_list(
        """de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu sua ou quando
        muito nos já também só pelo pela até isso foi são qual quais quem onde quantos quantas é"""
    ),
    "nl": _word_list(
        """de van een het en in is dat op te zijn met voor niet aan er die als door worden of uit ook maar naar bij om
        werd wordt over nog dan zich tot deze heeft wie wat waar wanneer welke hoe hoeveel"""
    ),
    "ru": _word_list(
        """и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне было от меня о из ему
        кто где когда какой какая какие каком сколько чем это был была были для до при или также"""
    ),
    "ar": _word_list(
        """في من على إلى عن مع هذا هذه التي الذي ما ماذا متى أين كيف كم هل هو هي كان كانت أن إن لا لم أو و ثم قد بعد قبل
        بين عند كل أي لماذا الذين ذلك تلك تم به بها له لها فيه فيها منها عليه حيث كما"""
    ),
}

_COMMON_IN: dict[str, list[str]] = {}  # the languages in which a word is common
for _code, _words in COMMON_WORDS.items():
    for _each in _words:
        _COMMON_IN.setdefault(_each, []).append(_code)

# Scripts written without spaces between words (or, Hangul, with particles joined on): taken as pairs of characters.
_UNSPACED = (
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"  # Kana, Han, Hangul
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\U00020000-\U0003134f"  # Han beyond the first plane
)
# A word may hold combining marks: without them Hindi and its neighbours fall to pieces.
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}](?:[^\W_{_UNSPACED}]|[\u0300-\u036f\u0900-\u0dff])*")
# In text of ASCII, what is no letter or digit, as a space: to split there is several times as fast as any pattern.
_ASCII_GAPS = {code: " " for code in range(128) if not chr(code).isalnum()}
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d\d\d(?!\d))")  # begins with a literal, which is found fast
_FOLDED_LETTERS = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


def tokens(text: str, language: str | None = None) -> list[str]:
    """The words of `text` as they are compared: folded, stemmed, in order, repeats kept.

    Case, accents and width are folded; Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer come as pairs of
    characters. Words are stemmed by Snowball's algorithm (https://snowballstem.org) for `language` (a code such as
    "de"); without one, words in ASCII letters are taken for English.

    >>> tokens("The rats' café, 1,500 mammals")
    ['the', 'rat', 'cafe', '1500', 'mammal']
    >>> tokens("東京都")
    ['東京', '京都']
    """
    language = (language or "").split("-")[0].lower()
    return [stemmed(word, language) for word in folded_words(text)]


def folded_words(text: str) -> list[str]:
    """What `tokens` stems: the words, case and width folded, and the pairs of characters.

    >>> folded_words("The rats in 東京都")
    ['the', 'rats', 'in', '東京', '京都']
    """
    text = _THOUSANDS.sub("", text)
    if text.isascii():
        return text.lower().translate(_ASCII_GAPS).split()
    found = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if word.isascii() or len(word) == 1 or not _IS_UNSPACED.match(word):
            found.append(word)
        else:
            found.extend(word[i : i + 2] for i in range(len(word) - 1))
    return found


def words(text: str) -> list[str]:
    """The words of `text` as they are written, casefolded; for looking up STOP_WORDS and the like.

    >>> words("How's Łódź?")
    ['how', 's', 'łódź']
    """
    return _WORD.findall(text.casefold())


@lru_cache(maxsize=200_000)
def stemmed(word: str, language: str) -> str:
    """One of the `folded_words` as a token. `language` is a code of two letters, or "" for unknown."""
    if not word.isascii():
        letters = unicodedata.normalize("NFD", word)
        letters = "".join(c for c in letters if not "\u0300" <= c <= "\u036f")  # not the Indic vowel signs
        word = unicodedata.normalize("NFC", letters).translate(_FOLDED_LETTERS)
    if len(word) < 4 or not word.isalpha() or not (language or word.isascii()):
        return word
    stemmer = _stemmer(language or "en")
    return stemmer.stemWord(word) if stemmer else word


@lru_cache(maxsize=32)
def _stemmer(language: str):
    if language not in _STEMMERS:
        return None
    from Stemmer import Stemmer

    return Stemmer(_STEMMERS[language], 0)  # without its own cache: `stemmed` keeps what it stemmed


def guess_language(text: str) -> str | None:
    """The code of the language that `text` seems to be in, by its script or its commonest words; None if unsure.

    >>> guess_language("Die Ratte ist ein Säugetier und lebt in der Stadt.")
    'de'
    """
    sample = text[:6000].casefold()
    if sample.isascii():
        return _commonest_language(sample.translate(_ASCII_GAPS).split())
    scripts = Counter(_script(c) for c in sample[::7] if c.isalpha())
    script, n = scripts.most_common(1)[0] if scripts else ("latin", 0)
    if script != "latin":
        return script if n * 2 > scripts.total() else None
    return _commonest_language(_WORD.findall(sample))


def _commonest_language(words: list[str]) -> str | None:
    shares = dict.fromkeys(COMMON_WORDS, 0)
    for word in words:
        for code in _COMMON_IN.get(word, ()):
            shares[code] += 1
    best = max(shares, key=lambda code: shares[code])
    return best if shares[best] * 6 > len(words) > 0 else None


def _script(letter: str) -> str | None:
    if letter < "\u0250":
        return "latin"
    for first, last, code in (("\u0370", "\u03ff", "el"), ("\u0400", "\u04ff", "ru"), ("\u0530", "\u058f", "hy"),
                              ("\u0600", "\u06ff", "ar"), ("\u0900", "\u097f", "hi"), ("\u0b80", "\u0bff", "ta")):  # fmt: skip  # noqa: E501
        if first <= letter <= last:
            return code
    return None


# ---------------------------------------------------------------------------------------------------- sentences

# An end mark, what closes after it, white space, then the start of something new; no white space after CJK marks.
_END = re.compile(
    r"(?P<mark>[.!?…]+[\"'”’»)\]]*)\s+(?=[\"'“‘«(\[¿¡]*[^\W_])"
    r"|[。！？｡][」』”’）》]*(?=.)"
    r"|[।॥؟۔።։][\"'”’»)\]]*\s+(?=\S)"
    r"|\s*\n\s*(?=\S)"
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«]*$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\.")
_NEXT_WORD = re.compile(r"[^\W_]+")
_ABBREVIATIONS = _word_list(
    """mr mrs ms dr prof st sr jr vs etc eg ie no nos cf ca gen col lt sgt capt cmdr adm maj rev hon gov sen rep pres
    inc ltd co corp bros mt ft approx est fig figs vol vols pp ed eds al jan feb mar apr jun jul aug sep sept oct nov
    dec ave blvd rd dept univ esp dist lit trans rec ret resp incl excl bzw usw vgl sog geb gest bspw evtl ggf nr bd
    hrsg mme mlle mgr sra sto sta art cap pág núm tom ст им др пр гг"""
)
# Words that seldom stand capitalised inside a sentence: after "U.S." or an initial they begin a new one.
_STARTERS = _word_list(
    """the this that these those he she it they we you in on at by for from with after before during since while when
    as although though but and however his her its their there here one some many most both each another other such
    if because according also der die das er sie es ein eine im am le la les il elle un une el los las en lo"""
)


def sentences(text: str) -> list[str]:
    """The sentences of `text`, in order, white space trimmed; a line's end also ends a sentence.

    Not fooled by most abbreviations, initials and decimals:

    >>> sentences('Dr. J. Smith paid $3.50. "Why?" he asked. The U.S. Army left.')
    ['Dr. J. Smith paid $3.50.', '"Why?" he asked.', 'The U.S. Army left.']
    """
    found, start = [], 0
    for end in _END.finditer(text):
        if end["mark"] and not _ends_sentence(text, start, end):
            continue
        if sentence := text[start : end.end()].strip():
            found.append(sentence)
        start = end.end()
    if sentence := text[start:].strip():
        found.append(sentence)
    return found


def _ends_sentence(text: str, start: int, end: re.Match) -> bool:
    following = _NEXT_WORD.search(text, end.end())[0]
    if "\n" in end[0]:
        return True
    if following[0].islower():
        return False
    if end["mark"] != ".":
        return end["mark"][0] != "…" or not following[0].islower()
    word = _LAST_WORD.search(text, max(start, end.start() - 40), end.start())[0]
    if not word:
        return True
    starter = following.casefold() in _STARTERS
    if word.casefold().replace(".", "") in _ABBREVIATIONS:
        return starter and word.casefold() in {"etc", "inc", "ltd", "co", "corp", "jr", "sr", "al"}
    if _INITIALS.fullmatch(word + "."):
        return starter
    if word.isdecimal() and len(word) < 3:
        return starter  # "3. Oktober", "No. 5 The"
    return True
