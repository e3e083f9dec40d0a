"""Text → chunks of about so many words, cut where the text itself has its joints.

Prose is cut between paragraphs, code between definitions, tables between rows. What is larger than a chunk by itself is
cut at the next finer joint: sentences, lines, words, and in an endless word anywhere.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

CHUNK_WORDS = 300
MAX_CHUNK_WORDS = 10_000
LONG_WORD = 24  # characters of a word that counts as one; of a longer run, as many count as one more
Span = tuple[int, int]
Splitter = Callable[[str, Span], list[Span]]

_UNSPACED_CHARS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f"
_UNSPACED = re.compile(f"[{_UNSPACED_CHARS}]")
# Blank lines, and the lines that begin a paragraph in the source of a manual page.
_PARAGRAPH_END = re.compile(r"\n(?:[^\S\n]*\n)+|\n(?=\.(?:[PLTI]?P|S[HSh]|Pp|It|Bl)\b)")
_LINE = re.compile(r"[^\n]*\n?")
_HEADING = re.compile(r"#{1,6}\s[^\n]*|[^\n]+\n(?:=+|-+)|\.S[HSh]\b[^\n]*|={2,6} [^\n]* ={2,6}")
_UNIT = re.compile(rf"[{_UNSPACED_CHARS}]{{1,2}}|[^\s{_UNSPACED_CHARS}]{{1,{LONG_WORD}}}")
_RANGES = tuple((ord(first), ord(last)) for first, last in re.findall("(.)-(.)", _UNSPACED_CHARS))
_IS_SPACE = bytes(chr(code).isspace() for code in range(0x3002))  # what comes after is none
_LONG = re.compile(rf"\S{{{LONG_WORD + 1},}}")
_SENTENCE_END = re.compile(r"[.!?…।؟۔][\"'”’»)\]]*(?=\s+[^\sa-z])|[。！？；｡][」』”’）》]*")
# A line that begins a definition, in the languages that people write; with what belongs to it right above.
_DEFINITION = re.compile(
    r"(?:export |default |pub(?:\([a-z]+\))? |public |private |protected |internal |static |final |abstract |sealed "
    r"|override |open |data |inline |async |unsafe |extern |const |virtual )*"
    r"(?:def|class|func|fn|fun|function|interface|struct|enum|trait|impl|module|namespace|object|record|protocol"
    r"|extension|type|sub|procedure|macro_rules!|template|create (?:table|view|function|index))\b[^\n]*"
    r"|[A-Za-z_][\w:<>,*&\[\] ]*[\w>*&] \**[A-Za-z_][\w:~]*\([^;\n]*\)?[^;\n]*",  # int main(void)
    re.I,
)
_ABOVE = re.compile(r"(?:[@#/*;]|--|'''|\"\"\"|\[)")


def chunks(text: str, size: int = CHUNK_WORDS, kind: str = "prose") -> list[str]:
    """`text` in pieces of about `size` words, none above twice that, in order; white space at their ends is dropped.

    kind  "prose"; "code", cut at definitions; "table", cut at lines, each chunk under the first line

    >>> chunks("One two.\\n\\nThree four five.\\n\\nSix.", 3)
    ['One two.', 'Three four five.', 'Six.']
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if kind == "table":
        return _table(text, size)
    levels = (_definitions, _inner_definitions, _paragraphs) if kind == "code" else (_paragraphs,)
    measure = _Measure(text)
    whole = (0, len(text))
    spans = _finer(measure, whole, size, levels) if measure.count(whole) > size else [whole]
    return [chunk for start, end in spans if (chunk := text[start:end].strip("\n").rstrip()) and not chunk.isspace()]


def count_words(text: str) -> int:
    """The words of `text`; where none are set apart, what would be as long: two ideographs, 24 letters or digits."""
    n = len(text.split())
    if not text.isascii():
        n += len(_UNSPACED.findall(text)) // 2
    return max(n, len(text) // (4 * LONG_WORD)) if n * LONG_WORD < len(text) else n


class _Measure:
    """Counts the words of pieces of a text, which begin and end between words, in no time."""

    def __init__(self, text: str):
        import numpy as np

        self.text = text
        if text.isascii():
            codes = np.frombuffer(text.encode("ascii"), "u1")
            self._unspaced = array("I")
        else:
            codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
            self._unspaced = _places(np.logical_or.reduce([(codes >= low) & (codes <= high) for low, high in _RANGES]))
            codes = np.minimum(codes, len(_IS_SPACE) - 1)
        space = np.frombuffer(_IS_SPACE, "?")[codes]
        self.starts = _places(~space & np.concatenate(([True], space[:-1])))

    def count(self, span: Span) -> int:
        """What `count_words` would say."""
        start, end = span
        n = bisect_left(self.starts, end) - bisect_left(self.starts, start)
        if self._unspaced:
            n += self._count_unspaced(span) // 2
        return max(n, (end - start) // (4 * LONG_WORD)) if n * LONG_WORD < end - start else n

    def _count_unspaced(self, span: Span) -> int:
        return bisect_left(self._unspaced, span[1]) - bisect_left(self._unspaced, span[0])

    def has_unspaced(self, span: Span) -> bool:
        return bool(self._unspaced) and self._count_unspaced(span) > 0


def _places(marks) -> array:
    found = array("I")
    found.frombytes(marks.nonzero()[0].astype("u4").tobytes())
    return found


def _fill(measure: _Measure, spans: list[Span], size: int, levels: tuple[Splitter, ...]) -> list[Span]:
    """The spans joined up to `size` words; one that is larger, cut by the first of the levels and filled again.

    A heading is never the last of a chunk that something follows.
    """
    text, found = measure.text, []
    pending: list[Span] = []
    words = 0
    ends_in_heading = False
    for span in spans:
        n = measure.count(span)
        heading = n < 30 and _HEADING.fullmatch(text[span[0] : span[1]].strip("\n")) is not None
        if pending and (words + n > size or (heading and words * 2 > size)):
            kept = pending[-1:] if ends_in_heading else []
            done = pending[: len(pending) - len(kept)]
            if done:
                found.append((done[0][0], done[-1][1]))
            pending, words = kept, sum(map(measure.count, kept))
        pending.append(span)
        words += n
        ends_in_heading = heading
        if n > size:
            found += _finer(measure, (pending[0][0], span[1]), size, levels)
            pending, words = [], 0
    if pending:
        found.append((pending[0][0], pending[-1][1]))
    return found


def _finer(measure: _Measure, span: Span, size: int, levels: tuple[Splitter, ...]) -> list[Span]:
    if not levels:
        return _cut(measure, span, size)
    parts = levels[0](measure.text, span)
    return _fill(measure, parts, size, levels[1:]) if len(parts) > 1 else _finer(measure, span, size, levels[1:])


def _paragraphs(text: str, span: Span) -> list[Span]:
    return _split(text, span, (match.end() for match in _PARAGRAPH_END.finditer(text, *span)))


def _definitions(text: str, span: Span) -> list[Span]:
    return _split(text, span, _definition_starts(text, span, indented=False))


def _inner_definitions(text: str, span: Span) -> list[Span]:
    return _split(text, span, _definition_starts(text, span, indented=True))


def _definition_starts(text: str, span: Span, indented: bool) -> Iterator[int]:
    """Where definitions begin, decorators and comments right above them included."""
    above = None
    for match in _LINE.finditer(text, *span):
        line = match[0]
        code = line.lstrip(" \t") if indented else line
        if code[:1].isspace() or not code.strip():
            above = None if not code.strip() else above
        elif _DEFINITION.match(code) and not code.lstrip().startswith(("return ", "else ", "new ")):
            yield match.start() if above is None else above
            above = None
        elif _ABOVE.match(code):
            above = match.start() if above is None else above
        else:
            above = None


def _split(text: str, span: Span, joints: Iterator[int]) -> list[Span]:
    start, stop = span
    found = []
    for joint in joints:
        if start < joint < stop and text[start:joint].strip():
            found.append((start, joint))
            start = joint
    found.append((start, stop))
    return found


def _cut(measure: _Measure, span: Span, size: int) -> list[Span]:
    """A paragraph that is too large, cut after a sentence; where none ends, after a line, a word, or anywhere."""
    text = measure.text
    ends = _unit_ends(measure, span)
    found: list[Span] = []
    start, done = span[0], 0
    while len(ends) - done > size:
        low, high = ends[done + size // 2 - 1 if size > 1 else done], ends[done + size - 1]
        at = max(
            (match.end() for match in _SENTENCE_END.finditer(text, low, high + 3) if match.end() <= high), default=0
        )
        at = at or text.rfind("\n", low, high) + 1 or high
        found.append((start, at))
        start, done = at, bisect_right(ends, at)
    found.append((start, span[1]))
    return found


def _unit_ends(measure: _Measure, span: Span) -> Sequence[int]:
    """Where the paragraph's words end, and long runs may be cut."""
    text, (start, end) = measure.text, span
    if measure.has_unspaced(span):
        return [match.end() for match in _UNIT.finditer(text, start, end)]
    # A word ends where the next one's white space begins; to stand before the next word is as good.
    ends = measure.starts[bisect_left(measure.starts, start) + 1 : bisect_left(measure.starts, end)]
    ends.append(end)
    long = [
        at for run in _LONG.finditer(text, start, end) for at in range(run.start() + LONG_WORD, run.end(), LONG_WORD)
    ]
    return sorted([*ends, *long]) if long else ends


def _table(text: str, size: int) -> list[str]:
    head, _, rows = text.strip("\n").partition("\n")
    head_words = count_words(head)
    if head_words * 2 > size or not rows.strip():  # no head to speak of
        return chunks(text, size, "code")
    found, lines, words = [], [], 0
    for line in rows.split("\n"):
        n = count_words(line)
        if n > size:
            if lines:
                found.append("\n".join([head, *lines]))
            lines, words = [], 0
            found += [f"{head}\n{part}" for part in chunks(line, size)]
            continue
        if lines and words + n + head_words > size:
            found.append("\n".join([head, *lines]))
            lines, words = [], 0
        if line.strip():
            lines.append(line)
            words += n
    if lines:
        found.append("\n".join([head, *lines]))
    return found
