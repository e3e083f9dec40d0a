"""Titles as words: one normaliser for the index and for queries.

`normalise` says when two titles are the same but for case, accents, underscores and punctuation; `words` gives the
words that are indexed, with plurals removed and scripts without spaces cut into pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata

NORMALISER_VERSION = 1  # stored in every index; raise it whenever `words` or `normalise` gives anything else

MAX_WORD_CHARS = 48  # longer ones are cut: no real word, and no room for them in the index

# Accents, breathings and vowel points that people leave out when typing; marks that make another letter stay.
_POINTS = re.compile("[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u064b-\u065f\u0670\u0640]")
APOSTROPHES = "'’ʼ`´‘ʻ′"
_APOSTROPHES = re.compile(f"[{APOSTROPHES}]")
_ACRONYM = re.compile(r"\b(?:[^\W\d_]\.){2,}")  # U.S., J.R.R.
_THOUSANDS = re.compile(r"(?<=\d),(?=\d\d\d(?!\d))")
_TAG = re.compile(r"</?[a-z]{1,6}>", re.I)  # some archives have <i>…</i> in titles
_AMPERSAND = re.compile(r"\s*&(?:amp;)?\s*")
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ø": "o", "Ø": "o", "đ": "d", "Đ": "d", "ł": "l", "Ł": "l"}
    | {"ð": "d", "Ð": "d", "þ": "th", "Þ": "th", "ı": "i", "ħ": "h", "Ħ": "h", "ə": "e"}
    | {"ة": "ه", "ى": "ي", "ی": "ي", "ک": "ك"}  # Arabic letters that are typed either way
)
# Written without spaces: Thai and Lao, Myanmar, Khmer, Kana, Han, Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
    "\U00020000-\U0003ffff"
)
# Vowel signs and the like, which are parts of words though not letters: Devanagari to Sinhala, and Tibetan.
_VOWEL_SIGNS = (
    "\u0900-\u0903\u093a-\u094f\u0955-\u0957\u0962\u0963\u0980-\u0983\u09bc-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a51"
    "\u0a70-\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04"
    "\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0d82\u0d83\u0dca-\u0ddf\u0f71-\u0fbc"
)
_WORD = re.compile(f"([{_UNSPACED}]+)|((?:[^\\W_{_UNSPACED}]|[{_VOWEL_SIGNS}])+)")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_NAME_SYMBOL = re.compile(r"(?<=[^\W_])[+#]+|\$(?=[^\W_])")  # C++, C#, Ke$ha: what tells such titles apart


def normalise(title: str) -> str:
    """The title without what people leave out or write otherwise: case, accents, underscores, punctuation.

    Two titles are the same if this is equal. Where nothing but symbols would be left, it is those.

    >>> normalise("Guns_N'_Roses"), normalise("J. R. R. Tolkien"), normalise("AT&T"), normalise("!!!")
    ('guns n roses', 'jrr tolkien', 'at and t', '!!!')
    >>> normalise("C++") == normalise("C")
    False
    """
    found = split(title)
    if not found:
        return symbols(title)
    marks = _NAME_SYMBOL.findall(title) if _has_symbols(title) else []
    return " ".join(found + marks) if marks else " ".join(found)


def readable(title: str) -> str:
    """The title as people write it: spaces for underscores, without tags.

    >>> readable("<i>Here_We_Go_Again</i>")
    'Here We Go Again'
    """
    return " ".join((_TAG.sub("", title) if "<" in title else title).replace("_", " ").split())


def words(title: str) -> list[str]:
    """The words by which a title is found, in order.

    >>> words("List of largest mammals"), words("M*A*S*H"), words("中华人民")
    (['list', 'of', 'largest', 'mammal'], ['mash'], ['中华', '华人', '人民'])
    """
    return indexed(split(title))


def indexed(found: list[str]) -> list[str]:
    """What is indexed of the words of `split`: singular, pairs of characters where there are no spaces."""
    made = []
    for word in found:
        if word.isascii():
            made.append(_singular(word) if word[-1] in "se" else word)
        elif _is_unspaced(word) and len(word) > 2:
            made += [word[i : i + 2] for i in range(len(word) - 1)]
        elif word.startswith("ال") and len(word) > 4:  # the Arabic article
            made.append(word[2:])
        else:
            made.append(word)
    return made


def terms(title: str) -> list[str]:
    """All by which a title is indexed: its words, and for some an exact term."""
    found = words(title)
    if found and not _has_symbols(title) and not _is_repetition(found):  # nearly always
        return found
    extra = exact_term(title)
    return [*found, extra] if extra else found


def _is_repetition(found: list[str]) -> bool:
    return len(found) > 1 and found[0] == found[-1] and len(set(found)) == 1


def _has_symbols(title: str) -> bool:
    return "+" in title or "#" in title or "$" in title


def exact_term(title: str) -> str | None:
    """One more index term for titles that their words do not tell apart: those of symbols, C++ beside C, The The.

    >>> exact_term("!!!"), exact_term("C++"), exact_term("The The"), exact_term("Oxygen")
    ('=!!!', '=c_++', '=the_the', None)
    """
    found = words(title)
    if found and not (_has_symbols(title) and _NAME_SYMBOL.search(title)) and not _is_repetition(found):
        return None
    key = normalise(title)
    return "=" + key.replace(" ", "_") if key else None


def symbols(title: str) -> str:
    """A title without letters or digits, as it is looked up: "!!!", "∞"."""
    printable = title.encode("utf-8", "replace").decode()  # lone surrogates cannot be stored
    folded = unicodedata.normalize("NFKC", printable.replace("_", " ")).casefold()
    return "".join(folded.split())[:MAX_WORD_CHARS]


def fold(text: str) -> str:
    """Lower case, without accents and points."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text).translate(_LETTERS)
    folded = _POINTS.sub("", decomposed).casefold().translate(_LETTERS)
    return unicodedata.normalize("NFC", folded)


def split(title: str) -> list[str]:
    """The words of a title, folded, as they are compared; what is written without spaces stays whole."""
    found = single_words(title)
    return _join_letters(found) if list(map(len, found)).count(1) > 1 else found


def single_words(title: str) -> list[str]:
    """As `split`, but single letters stay apart: what is between two spaces has the same words in any title."""
    text = _TAG.sub("", title) if "<" in title else title
    if not text.isascii():
        text = _APOSTROPHES.sub("", text)
    elif "'" in text or "`" in text:
        text = text.replace("'", "").replace("`", "")
    if "." in text:
        text = _ACRONYM.sub(lambda match: match.group().replace(".", "") + " ", text)
    if "&" in text:
        text = _AMPERSAND.sub(" and ", text)
    if "," in text:
        text = _THOUSANDS.sub("", text)
    text = fold(text)
    found = _ASCII_WORD.findall(text) if text.isascii() else [match.group() for match in _WORD.finditer(text)]
    return [word[:MAX_WORD_CHARS] for word in found] if len(text) > MAX_WORD_CHARS else found


def has_words(text: str) -> bool:
    """Whether anything in the text is a part of a word."""
    return _WORD.search(text) is not None


def _join_letters(found: list[str]) -> list[str]:
    """Runs of single letters as one word: j r r tolkien → jrr tolkien, m a s h → mash."""
    joined, run = [], ""
    for word in found:
        if len(word) == 1 and word.isalpha() and not _is_unspaced(word):
            run += word
            continue
        if run:
            joined.append(run[:MAX_WORD_CHARS])
            run = ""
        joined.append(word)
    if run:
        joined.append(run[:MAX_WORD_CHARS])
    return joined


def _is_unspaced(word: str) -> bool:
    match = _WORD.match(word)
    return match is not None and match.group(1) is not None


def _singular(word: str) -> str:
    """Harman's s-stemmer (1991): plurals only, so that hardly two different words become one; and zombie as zomby."""
    if len(word) > 4 and word.endswith("ie"):
        return word[:-2] + "y"
    if len(word) < 4 or word[-1] != "s" or word[-2] in "sui":
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word[-2] == "e" and (word[-3] in "xz" or word[-4:-2] in ("ch", "sh", "ss")):
        return word[:-2]
    return word[:-1]
