"""How a word sounds, roughly: words that are spelt differently but spoken alike get the same key."""

from __future__ import annotations

import re

# Capitals stand for what the letters below must not touch.
_SOUNDS = {
    "tsch": "C",
    "tch": "C",
    "sch": "C",
    "sh": "C",
    "cz": "C",
    "ch": "C",
    "cae": "se",
    "c": "s",
    "ck": "k",
    "x": "ks",
}
_SOUNDS |= {
    "ph": "f",
    "gh": "g",
    "rh": "r",
    "th": "t",
    "tz": "s",
    "ts": "s",
    "ah": "a",
    "eh": "e",
    "oh": "o",
    "uh": "u",
}
_CLUSTER = re.compile("tsch|tch|sch|sh|cz|ch|ck|cae|c(?=[eiy])|x|ph|gh|rh|th|tz|ts|[aeou]h")
_LETTERS = str.maketrans("eiouywdzqc", "aaaaavtskk")
_REPEATED = re.compile(r"(.)\1+")


def sound(word: str) -> str:
    """The key of a word in Latin letters; other words are their own key.

    In the manner of Metaphone (Philips 1990), but one vowel stands for any run of vowels.

    >>> sound("phillip"), sound("filip"), sound("caesar") == sound("cesar")
    ('falap', 'falap', True)
    """
    if not word.isascii() or not word.isalpha():
        return word
    key = _CLUSTER.sub(lambda match: _SOUNDS[match.group()], word).translate(_LETTERS)
    key = _REPEATED.sub(r"\1", key)
    return key[:-1] if len(key) > 3 and key[-1] == "a" else key
