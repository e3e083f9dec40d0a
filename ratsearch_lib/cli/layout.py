"""Text of models and archives, laid out for a terminal as it streams in: made harmless, wrapped, `**bold**` shown bold.

Such text is not to be trusted: an escape sequence in it could move the cursor, change the window's title, or make
the terminal answer as if the person had typed. So no control character but the newline reaches the screen.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

RESET, BOLD, DIM_ITALIC = "\x1b[0m", "\x1b[1m", "\x1b[2;3m"
TAB = "    "

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# C0 without tab and newline, C1, DEL; the bidirectional controls that reorder what follows; halves of surrogates
_UNSAFE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """`text` without anything that could drive a terminal; controls become their visible pictures.

    >>> clean("red \\x1b[31m alert\\r\\n")
    'red ␛[31m alert\\n'
    """
    return _UNSAFE.sub(_picture, _LINE_ENDS.sub("\n", text))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "" if 0x2000 < code < 0x2100 else "\N{REPLACEMENT CHARACTER}"


class Layout:
    """Turns pieces of text into what to send to the screen. A word is held back until its end is known.

    `width` returns the screen's columns, or None where lines are left as they are (a pipe). `styled` says whether
    escape codes may be used; without them `**` stays as it came.

    >>> layout = Layout(lambda: 16)
    >>> layout.feed("The largest mam") + layout.feed("mal in") + layout.end_line()
    'The largest\\nmammal in\\n'
    """

    def __init__(self, width: Callable[[], int | None], styled: bool = False):
        self._width = width
        self._styled = styled
        self._word: list[tuple[str, str]] = []  # (character, style)
        self._spaces = 0
        self._column = 0
        self._style = ""  # in force in `_out`
        self._out: list[str] = []
        self._markup = _Bold()

    def feed(self, text: str, style: str = "", *, markup: bool = False) -> str:
        """What to write for the next piece of text."""
        text = clean(text)
        if self._width() is None and not self._styled:  # nothing to work out
            self._column = len(text.rpartition("\n")[2]) + (0 if "\n" in text else self._column)
            return text
        for char in text.replace("\t", TAB):
            if markup:
                for shown, bold in self._markup.feed(char) if self._styled else [(char, False)]:
                    self._put(shown, style + BOLD if bold else style)
            else:
                self._put(char, style)
        return self._take()

    def end_line(self) -> str:
        """What to write to be at the start of a line: the held word, and a newline if it is needed."""
        for shown, bold in self._markup.end():
            self._put(shown, BOLD if bold else "")
        self._flush()
        if self._column:
            self._break()
        self._spaces = 0
        return self._take()

    def _take(self) -> str:
        self._set_style("")
        text = "".join(self._out)
        self._out.clear()
        return text

    def _put(self, char: str, style: str) -> None:
        if char == "\n":
            self._flush()
            self._break()
        elif char == " ":
            self._flush()
            self._spaces += 1
        else:
            if self._word and 2 in (_cells(char), _cells(self._word[-1][0])):
                self._flush()  # scripts without spaces break anywhere
            self._word.append((char, style))

    def _flush(self) -> None:
        if not self._word:
            return
        width = self._width() or sys.maxsize
        cells = sum(_cells(char) for char, _ in self._word)
        if self._column and self._column + self._spaces + cells > width:
            self._break()
        self._spaces = min(self._spaces, max(0, width - self._column - cells))  # of a deep indentation, what fits
        self._out.append(" " * self._spaces)
        self._column += self._spaces
        self._spaces = 0
        for char, style in self._word:
            if self._column and self._column + _cells(char) > width:
                self._break()
            self._set_style(style)
            self._out.append(char)
            self._column += _cells(char)
        self._word.clear()

    def _break(self) -> None:
        self._set_style("")
        self._out.append("\n")
        self._column = self._spaces = 0

    def _set_style(self, style: str) -> None:
        if style != self._style and self._styled:
            self._out.append((RESET if self._style else "") + style)
            self._style = style


class _Bold:
    """`**bold**` in streamed Markdown: characters in, (text, is bold) out; code is left alone."""

    def __init__(self):
        self._stars = 0
        self._previous = "\n"
        self._bold = self._code = self._fence = False
        self._line_head = ""  # to see the fence of a code block

    def feed(self, char: str) -> list[tuple[str, bool]]:
        if char == "*" and not (self._code or self._fence):
            self._stars += 1
            return []
        shown = self._resolve(char)
        if char == "\n":
            self._bold = self._code = False
            self._line_head = ""
        else:
            if len(self._line_head) < 3 and not (char == " " and not self._line_head):
                self._line_head += char
                if self._line_head == "```":
                    self._fence = not self._fence
            if char == "`":
                self._code = not self._code
        self._previous = char
        return [*shown, (char, self._bold)]

    def end(self) -> list[tuple[str, bool]]:
        shown = self._resolve("\n")
        self.__init__()
        return shown

    def _resolve(self, following: str) -> list[tuple[str, bool]]:
        stars, self._stars = self._stars, 0
        if stars in (2, 3):
            if self._bold and not self._previous.isspace():
                self._bold = False
                return []
            if not self._bold and not following.isspace() and not self._previous.isalnum():
                self._bold = True
                return []
        return [("*", self._bold)] * stars


def _cells(char: str) -> int:
    if char < "\u0300":
        return 1
    from rich.cells import get_character_cell_size

    return get_character_cell_size(char, "latest")
