"""Titles as words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.titles import normalise
from ratsearch_lib.titles.normalise import MAX_WORD_CHARS, exact_term, words
from ratsearch_lib.titles.sound import sound


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("List_of_largest_mammals", "list of LARGEST mammals"),
        ("J. R. R. Tolkien", "J.R.R. Tolkien"),
        ("J. R. R. Tolkien", "JRR Tolkien"),
        ("M*A*S*H", "MASH"),
        ("U.S. Route 66", "US Route 66"),
        ("AT&T", "AT and T"),
        ("Thelma &amp; Louise", "Thelma and Louise"),
        ("Łódź", "Lodz"),
        ("Björk", "bjork"),
        ("Æthelred", "AEthelred"),
        ("Straße", "STRASSE"),
        ("Schrödinger’s cat", "Schrodinger's cat"),
        ("Война и мир", "ВОЙНА И МИР"),
        ("Έδεσσα", "εδεσσα"),
        ("القاهرة", "القاهره"),
        ("אֶרֶץ", "ארץ"),
        ("2,000 Guineas", "2000 Guineas"),
        ("<i>Ray Charles</i> (album)", "Ray Charles (album)"),
        ("ﬁre", "fire"),
    ],
)
def test_the_same_title_written_otherwise(one, other):
    assert normalise(one) == normalise(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++", "C"), ("C#", "C"), ("C", "C#"), ("!!!", "???"), ("Mercury (planet)", "Mercury"), ("Cats", "Cat")],
)
def test_other_titles(one, other):
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Largest mammals", ["largest", "mammal"]),
        ("Batteries and boxes", ["battery", "and", "box"]),
        ("Zombies", ["zomby"]),
        ("Zombie", ["zomby"]),
        ("Physics of glass, Texas", ["physic", "of", "glass", "texa"]),
        ("Guns N' Roses", ["gun", "n", "rose"]),
        ("中华人民", ["中华", "华人", "人民"]),
        ("東", ["東"]),
        ("ไทย", ["ไท", "ทย"]),
        ("대한민국", ["대한", "한민", "민국"]),
        ("महात्मा गांधी", ["महात्मा", "गांधी"]),
        ("מדינת ישראל", ["מדינת", "ישראל"]),
        ("القاهرة", ["قاهره"]),
        ("!!!", []),
        ("", []),
    ],
)
def test_words(title, expected):
    assert words(title) == expected


def test_titles_of_symbols_have_a_term_of_their_own():
    assert exact_term("!!!") == "=!!!"
    assert exact_term("C++") != exact_term("C#")
    assert exact_term("The The") == "=the_the"
    assert exact_term("Oxygen") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("phillip", "filip"), ("caesar", "cesar"), ("kaitlin", "caitlyn"), ("sergey", "sergei"), ("david", "davyd")],
)
def test_words_that_sound_alike(one, other):
    assert sound(one) == sound(other)


@given(st.text())
def test_any_text_has_words_that_can_be_stored(text):
    for word in words(text):
        assert word
        assert len(word) <= MAX_WORD_CHARS + 1
        assert not any(letter.isspace() for letter in word)
        word.encode()  # no lone surrogates
    assert words(text) == words(text)
    extra = exact_term(text)
    if extra is not None:
        extra.encode()
        assert len(extra.split()) == 1
