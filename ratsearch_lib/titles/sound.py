"""How a word sounds, roughly: words that are spelt differently but spoken alike get the same key."""

from __future__ import annotations

import re

# Applied in order; capitals stand for what later rules must not touch.
_RULES = """
    ph→f tsch→C tch→C sch→C sh→C cz→C ch→C gh→g rh→r th→t tz→s ts→s cae→se ce→se ci→si cy→si ck→k x→ks
    ah→a eh→e oh→o uh→u
"""
_CLUSTERS = [rule.split("→") for rule in _RULES.split()]
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
    key = word
    for cluster, letters in _CLUSTERS:
        key = key.replace(cluster, letters)
    key = _REPEATED.sub(r"\1", key.translate(_LETTERS))
    return key[:-1] if len(key) > 3 and key[-1] == "a" else key
