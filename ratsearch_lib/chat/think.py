"""Reasoning that a model writes between tags in its text, told from the answer while it streams.

Servers that know the model send reasoning in a field of its own; the others leave <think>…</think> in the text. Some
chat templates open the tag themselves, so that only the closing one comes, after what looked like an answer.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .delta import Delta

NAMES = ("think", "thinking", "thought")
TAGS = (*(f"<{slash}{name}>" for name in NAMES for slash in ("", "/")), "[think]", "[/think]")
_TAG = re.compile("|".join(map(re.escape, TAGS)), re.I)
_LONGEST = max(map(len, TAGS))


class ThinkTags:
    """Moves what stands between tags from a reply's text to its reasoning.

    inside  the reply begins with reasoning, without a tag that says so

    >>> tags = ThinkTags()
    >>> [(delta.reasoning, delta.text) for piece in ("<thi", "nk>Hm.</th", "ink>A rat.") for delta in
    ...  tags.feed(Delta(text=piece))]
    [('Hm.', ''), ('', 'A rat.')]
    """

    def __init__(self, *, inside: bool = False):
        self.closed_unopened = False  # a closing tag came first: this model's replies begin with reasoning
        self._inside = self._assumed = inside
        self._seen = False  # any tag
        self._said = ""  # the text so far, without what is held
        self._thought = ""  # the reasoning so far, while it is only assumed to be that
        self._held = ""  # may be the beginning of a tag

    def feed(self, delta: Delta) -> list[Delta]:
        """The next delta, as those that it amounts to."""
        if delta.reasoning and self._assumed:  # the server tells them apart by itself
            self._inside = self._assumed = False
        if not delta.text:
            return [delta]
        text = self._held + delta.text
        if not self._inside and "<" not in text and "[" not in text:  # nearly always
            self._held, self._said = "", self._said + text
            return [delta] if text == delta.text else [replace(delta, text=text)]
        found: list[Delta] = []
        start = 0
        for tag in _TAG.finditer(text):
            closes = "/" in tag[0]
            before = text[start : tag.start()]
            if closes and self._inside:
                found += self._piece(before)
                self._inside = self._assumed = False
            elif not self._inside and self._counts(before, closes):
                found += self._piece(before)
                if not closes:
                    self._inside = True
                elif not self._seen and self._said.strip():
                    self.closed_unopened = True
                    self._said = ""
                    found.append(Delta(was_reasoning=True))
            else:
                continue
            self._seen = True
            start = tag.end()
        rest = text[start:]
        end = len(rest) - _partial(rest)
        self._held = rest[end:]
        found += self._piece(rest[:end])
        other = replace(delta, text="")
        return found if other == Delta() else [*found, other]

    def finish(self, *, whole: bool = True) -> list[Delta]:
        """What was held back. A `whole` reply that was all assumed reasoning was an answer."""
        held, self._held = self._held, ""
        found = self._piece(held)
        if self._inside and self._assumed and whole and self._thought.strip():
            found.append(Delta(text=self._thought))
        return found

    def _piece(self, text: str) -> list[Delta]:
        if not text:
            return []
        if self._inside:
            self._thought += text if self._assumed else ""
            return [Delta(reasoning=text)]
        self._said += text
        return [Delta(text=text)]

    def _counts(self, before: str, closes: bool) -> bool:
        """Whether a tag after `before` is one, and not something that the answer speaks of."""
        said = self._said + before
        if said.count("```") % 2 or said.endswith(("`", '"', "'")):
            return False
        return closes or not said.rpartition("\n")[2].strip()


def _partial(text: str) -> int:
    """How many characters at the end may be the beginning of a tag."""
    tail = text[1 - _LONGEST :].lower()
    for start, character in enumerate(tail):
        if character in "<[" and any(tag.startswith(tail[start:]) for tag in TAGS):
            return len(tail) - start
    return 0
