"""Text of models and archives, laid out for a terminal as it streams in: made harmless, wrapped, `**bold**` shown bold.

Such text is not to be trusted: an escape sequence in it could move the cursor, change the window's title, or make
the terminal answer as if the person had typed. So no control character but the newline reaches the screen.
"""

from __future__ import annotations

import re
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
        self._markup = _Bold()
        self.column = 0

    @property
    def at_line_start(self) -> bool:
        return not (self.column or self._word or self._spaces or self._markup.held)

    def feed(self, text: str, style: str = "", *, markup: bool = False) -> str:
        """What to write for the next piece of text."""
        text = clean(text)
        if self._width() is None and not self._styled:  # nothing to work out
            self.column = len(text) - text.rfind("\n") - 1 if "\n" in text else self.column + len(text)
            return text
        out: list[str] = []
        for char in text.replace("\t", TAB):
            if markup and self._styled:
                for shown, bold in self._markup.feed(char):
                    self._put(shown, style + BOLD if bold else style, out)
            else:
                self._put(char, style, out)
        if self._width() is None:
            self._flush(out)
        return "".join(out)

    def end_line(self) -> str:
        """What to write to be at the start of a line: the held word, and a newline if it is needed."""
        out: list[str] = []
        for shown, bold in self._markup.end():
            self._put(shown, BOLD if bold else "", out)
        self._flush(out)
        if self.column:
            out.append("\n")
        self.column = self._spaces = 0
        return "".join(out)

    def _put(self, char: str, style: str, out: list[str]) -> None:
        if char == "\n":
            self._flush(out)
            out.append("\n")
            self.column = self._spaces = 0
        elif char == " ":
            self._flush(out)
            self._spaces += 1
        else:
            if self._word and (_cells(char) == 2 or _cells(self._word[-1][0]) == 2):
                self._flush(out)  # scripts without spaces break anywhere
            self._word.append((char, style))

    def _flush(self, out: list[str]) -> None:
        if not self._word:
            return
        width = self._width()
        cells = sum(_cells(char) for char, _ in self._word)
        if width and self.column and self.column + self._spaces + cells > width:
            out.append("\n")
            self.column = self._spaces = 0
        out.append(" " * self._spaces)
        self.column += self._spaces
        self._spaces, current = 0, ""
        for char, style in self._word:
            if width and self.column and self.column + _cells(char) > width:
                out.append("\n")
                self.column = 0
            if style != current and self._styled:
                out.append((RESET if current else "") + style)
                current = style
            out.append(char)
            self.column += _cells(char)
        if current:
            out.append(RESET)
        self._word.clear()


class _Bold:
    """`**bold**` in streamed Markdown: characters in, (text, is bold) out; code is left alone."""

    def __init__(self):
        self._stars = 0
        self._previous = "\n"
        self._bold = self._code = self._fence = False
        self._line_head = ""  # to see the fence of a code block

    @property
    def held(self) -> bool:
        return self._stars > 0

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

    return get_character_cell_size(char)
