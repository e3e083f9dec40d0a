"""Text for a terminal: harmless, wrapped, bold where it was marked so."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.cli.layout import BOLD, DIM_ITALIC, RESET, Layout, clean

OURS = re.compile("|".join(re.escape(code) for code in (RESET, BOLD, DIM_ITALIC)))


def lay_out(*pieces: str, width: int | None = None, styled: bool = False, markup: bool = True) -> str:
    layout = Layout(lambda: width, styled)
    return "".join(layout.feed(piece, markup=markup) for piece in pieces) + layout.end_line()


class TestClean:
    @pytest.mark.parametrize(
        ("hostile", "shown"),
        [
            ("\x1b]0;owned\x07", "␛]0;owned␇"),  # sets the window's title
            ("\x1b[2J", "␛[2J"),  # clears the screen
            ("\x9b31m", "\ufffd31m"),  # the same introducer in one character
            ("a\x08b\x7f", "a␈b␡"),
            ("safe\rrm", "safe\nrm"),  # would overwrite the line
            ("one\r\ntwo\u2028three", "one\ntwo\nthree"),
            ("user\u202etxt.exe", "usertxt.exe"),  # would reverse what follows
            ("\ud83d", "\ufffd"),  # half a character: cannot be encoded
            ("\ttab, é, 中, \u200f", "\ttab, é, 中, \u200f"),
        ],
    )
    def test_examples(self, hostile, shown):
        assert clean(hostile) == shown

    @given(st.text(st.characters(codec=None)))
    def test_nothing_drives_the_terminal(self, text):
        shown = clean(text)
        assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"]
        shown.encode("utf-8")


class TestWrapping:
    def test_words_move_whole_to_the_next_line(self):
        assert lay_out("The largest mam", "mal in", width=16) == "The largest\nmammal in\n"

    def test_word_that_just_fits(self):
        assert lay_out("1234 678", width=8) == "1234 678\n"
        assert lay_out("1234 6789", width=8) == "1234\n6789\n"

    def test_long_word_is_broken(self):
        assert lay_out("abcdefghij kl", width=4) == "abcd\nefgh\nij\nkl\n"

    def test_indentation_stays_and_trailing_spaces_go(self):
        assert lay_out("  - one   \n    two", width=20) == "  - one\n    two\n"

    def test_wide_characters_take_two_columns_and_break_anywhere(self):
        assert lay_out("北米最大の哺乳類", width=8) == "北米最大\nの哺乳類\n"

    def test_combining_characters_take_none(self):
        assert lay_out("e\u0301e\u0301e\u0301 e", width=5) == "e\u0301e\u0301e\u0301 e\n"

    def test_pipe_gets_the_text_as_it_came(self):
        text = "word " * 50 + "\n\n    **code**  \n\tx"
        assert lay_out(text) == text + "\n"

    @given(st.lists(st.text()), st.integers(2, 60))
    def test_width_and_words_are_kept(self, pieces, width):
        from rich.cells import cell_len

        shown = lay_out(*pieces, width=width)
        assert all(cell_len(line) <= width for line in shown.splitlines())
        whole = clean("".join(clean(piece) for piece in pieces))
        assert re.sub(r"[ \n\t]", "", shown) == re.sub(r"[ \n\t]", "", whole)


def loud(shown: str) -> str:
    """Bold letters as capitals."""
    parts = re.split(f"({OURS.pattern})", shown)
    styles = ["", *parts[1::2]]
    return "".join(text.upper() if style == BOLD else text for style, text in zip(styles, parts[::2], strict=True))


class TestBold:
    @pytest.mark.parametrize(
        ("markdown", "shown"),
        [
            ("the **american bison** is", "the AMERICAN BISON is"),
            ("**all**", "ALL"),
            ("(**a**)", "(A)"),
            ("2**10 and x ** y", "2**10 and x ** y"),
            ("`**kwargs` *one*", "`**kwargs` *one*"),
            ("```\nf(**kw, **more)\n```\n**b**", "```\nf(**kw, **more)\n```\nB"),
            ("**open\nnext line", "OPEN\nnext line"),
            ("trailing **", "trailing **"),
            ("****", "****"),
        ],
    )
    def test_examples(self, markdown, shown):
        assert loud(lay_out(markdown, styled=True)) == shown + "\n"
        assert loud(lay_out(*markdown, styled=True)) == shown + "\n"  # a character at a time

    def test_each_line_ends_its_own_style(self):
        shown = lay_out("a **bc de** f", width=4, styled=True)
        assert shown == f"a {BOLD}bc{RESET}\n{BOLD}de{RESET} f\n"

    def test_without_styles_the_stars_stay(self):
        assert lay_out("the **American bison**", width=40) == "the **American bison**\n"

    @given(st.lists(st.text("ab* `\n")), st.booleans())
    def test_only_stars_are_ever_left_out(self, pieces, markup):
        shown = OURS.sub("", lay_out(*pieces, styled=True, markup=markup))
        assert re.sub(r"[* ]", "", shown).rstrip("\n") == re.sub(r"[* ]", "", "".join(pieces)).rstrip("\n")
