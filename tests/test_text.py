"""Tokens and sentences; what is expected was written by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.text import STOP_WORDS, guess_language, sentences, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The rats' café", ["the", "rat", "cafe"]),
        ("1,500 mammals in 1905", ["1500", "mammal", "in", "1905"]),
        ("Łódź STRASSE Straße Ærø", ["lodz", "strass", "strass", "aero"]),
        ("東京都", ["東京", "京都"]),
        ("水", ["水"]),
        ("ＡＢＣ１", ["abc1"]),
        ("H₂O at 5 m²", ["h2o", "at", "5", "m2"]),
        ("北京 2008", ["北京", "2008"]),
        ("हिन्दी", ["हिन्दी"]),
        ("", []),
        ("!? … —", []),
    ],
)
def test_tokens(text, expected):
    assert tokens(text) == expected


def test_accents_do_not_matter():
    assert tokens("récompense Дом ἄνθρωπος") == tokens("recompense дом ανθρωπος")


def test_english_stems_meet():
    for pair in ("invaded invading", "mammal mammals", "cities city"):
        first, second = tokens(pair)
        assert first == second


def test_another_language_is_stemmed_by_its_own_rules():
    first, second = tokens("Säugetier Säugetiere", "de")
    assert first == second


@given(st.text())
def test_any_text_has_tokens_without_spaces(text):
    found = tokens(text)
    assert all(token and not any(c.isspace() for c in token) for token in found)
    assert found == tokens(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The rat is an animal that lives in the city with us.", "en"),
        ("Die Ratte ist ein Säugetier und lebt in der Stadt.", "de"),
        ("La rata es un mamífero que vive en la ciudad con el hombre.", "es"),
        ("Крыса — это животное из отряда грызунов.", "ru"),
        ("الجرذ حيوان من القوارض", "ar"),
        ("", None),
        ("12345", None),
    ],
)
def test_guess_language(text, code):
    assert guess_language(text) == code


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. J. Smith paid $3.50.", '"Why?" he asked.', "The U.S. Army left."],
        ["It ended in 1945.", "Then came peace."],
        ["Mr. and Mrs. Brown met St. Nicholas.", "They spoke."],
        ["He lived in the U.S.", "The house stood there."],
        ["Version 2.0 is out!", "Really?", "Yes."],
        ["Approx. 3 km, i.e. far.", "It rained."],
        ["(He left.)", "Nobody saw it."],
        ["Am 3. Oktober 1990 kam sie.", "Alle waren da."],
        ["¿Quién fue?", "Nadie lo sabe."],
        ["Это дом.", "Он стар."],
        ["John F. Kennedy spoke.", "Everyone listened."],
    ],
)
def test_sentences(expected):
    assert sentences(" ".join(expected)) == expected


def test_sentences_without_spaces_between():
    assert sentences("东京是首都。它很大！「真的？」他说。") == ["东京是首都。", "它很大！", "「真的？」", "他说。"]
    assert sentences("यह घर है। वह बड़ा है।") == ["यह घर है।", "वह बड़ा है।"]


def test_a_line_ends_a_sentence():
    assert sentences("First line\nsecond line\n\nthird") == ["First line", "second line", "third"]


@given(st.text())
def test_sentences_lose_nothing_but_white_space(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_stop_words_are_plain_words():
    assert {"the", "what", "is"} <= STOP_WORDS
    assert all(word == word.casefold() and word.isalpha() for word in STOP_WORDS)
