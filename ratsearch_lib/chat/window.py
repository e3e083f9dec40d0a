"""The context window: how much of it a conversation takes, and what gives way when it no longer fits.

A conversation only grows at its end, so that a server can reuse what it has read of it; when it must shrink, it
shrinks by so much at once that this is seldom.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Message = dict[str, Any]

ANSWER_TOKENS = 700  # kept free for what the model writes
MESSAGE_TOKENS = 6  # what a template puts around a message
CALL_TOKENS = 20  # and around a tool call
TRIM_TO = 0.7  # of what a prompt may take
TIGHT = 0.6
MIN_RATIO, MAX_RATIO = 0.4, 3.0
MIN_STUB_SAVING = 40  # characters
MIN_TRUNCATED = 1000  # tokens: less than this is never what a server cuts a prompt to
STUB_END = "(read before; call {} again)"
_STUB = re.compile(r"\(read before; call [\w.-]+ again\)\Z")
CUT_END = "\n(The rest does not fit.)"

# The sizes in the sentences that servers refuse a long prompt with.
_SAID_WINDOW = re.compile(
    r"(?:context size \(|context length is |context length of only |maximum model length of |context window of "
    r"|context length \(|n_ctx[^\d]{0,4})([\d,]+)",
    re.I,
)
_SAID_SENT = re.compile(r"(?:request \(|you requested |prompt contains |prompt \(length |first )([\d,]+)", re.I)


@dataclass(slots=True)
class Calibration:
    """What requests have taught about a server. One a client.

    ratio  its tokens for each that we estimate
    limit  a window that is smaller than it says, in tokens
    refuses_tools  which it may say only when it is given some
    """

    ratio: float = 1.0
    limit: int | None = None
    refuses_tools: bool = False


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What gave way: the ids of the calls whose results did, older turns left out, tokens freed."""

    calls: frozenset[str]
    turns: int
    tokens: int


@lru_cache(maxsize=256)  # each request counts the same messages several times
def estimate_tokens(text: str) -> int:
    """About how many tokens a text takes: one for 4 characters of ASCII, 2 of other alphabets, each ideograph.

    >>> estimate_tokens("The brown rat."), estimate_tokens("東京都")
    (4, 3)
    """
    ascii_chars = len(text.encode("ascii", "ignore"))
    wide = sum(1 for c in text if c >= "\u2e80") if ascii_chars < len(text) else 0
    return (ascii_chars + 3) // 4 + (len(text) - ascii_chars - wide + 1) // 2 + wide


def estimate_messages(messages: Sequence[Mapping[str, Any]]) -> int:
    """As `estimate_tokens`, of a conversation."""
    tokens = 0
    for message in messages:
        content = message.get("content") or ""
        tokens += MESSAGE_TOKENS + estimate_tokens(content if isinstance(content, str) else json.dumps(content))
        for call in message.get("tool_calls") or ():
            function = call["function"]
            tokens += CALL_TOKENS + estimate_tokens(function["name"]) + estimate_tokens(function["arguments"])
    return tokens


class Window:
    """One run's context window.

    size   tokens, prompt and answer together
    fixed  messages that every request begins with; `tools`: their schemas, which it holds too
    """

    def __init__(
        self,
        size: int,
        calibration: Calibration | None = None,
        *,
        fixed: Sequence[Message] = (),
        tools: Sequence[Mapping[str, Any]] = (),
    ):
        self.size = size
        self.calibration = calibration or Calibration()
        self._fixed = estimate_messages(fixed) + (estimate_tokens(json.dumps(list(tools))) if tools else 0)
        self._overhead = 0.0
        self._last: tuple[int, int] | None = None  # (estimated, reported)

    @property
    def max_prompt(self) -> int:
        """The tokens that a prompt may take."""
        return self.size - min(ANSWER_TOKENS, self.size // 4)

    def count(self, messages: Sequence[Message]) -> int:
        """The tokens that a request with these messages takes, as far as is known."""
        return max(0, round(self._overhead + self.calibration.ratio * self._estimate(messages)))

    def is_tight(self, messages: Sequence[Message]) -> bool:
        """Whether it is worth asking the server for the exact count."""
        return self.count(messages) > TIGHT * self.max_prompt

    def reported(self, messages: Sequence[Message], tokens: int) -> bool:
        """Take the server's own count of a request; True if it has left out part of it without a word."""
        if self._left_out(self._estimate(messages), tokens):
            self._shrink(tokens + min(ANSWER_TOKENS, tokens // 3))
            return True
        self.counted(messages, tokens)
        return False

    def counted(self, messages: Sequence[Message], tokens: int) -> None:
        """Take an exact count of a request (0: there is none)."""
        estimate = self._estimate(messages)
        if tokens < MIN_RATIO * estimate:  # some servers leave out what they had cached
            return
        before, counted = self._last or (0, 0)
        if estimate - before >= 500:  # less says little, beside what the template adds
            ratio = (tokens - counted) / (estimate - before)
            self.calibration.ratio = min(max(ratio, MIN_RATIO), MAX_RATIO)
        self._overhead = tokens - self.calibration.ratio * estimate
        self._last = estimate, tokens

    def overflowed(self, messages: Sequence[Message], said: str) -> None:
        """Learn from a refusal: the sizes in the server's sentence, or else that this was too much."""
        said = said.partition("It says:")[2]
        counted = self.count(messages)
        if (sent := _SAID_SENT.search(said)) and (tokens := _number(sent[1])) > counted:
            self._overhead += tokens - counted
            counted = tokens
        window = _SAID_WINDOW.search(said)
        self._shrink(_number(window[1]) if window else int(0.8 * counted))

    def fit(self, messages: list[Message], room: int = 0) -> Trimmed | None:
        """Shorten `messages` in place until `room` tokens more fit; None if they fit as they are.

        The oldest tool results shrink to a line, then the oldest turns go, then the newest results are cut. The
        question and what the model has said since stay, even if they do not fit.
        """
        before = self.count(messages)
        if before + room <= self.max_prompt:
            return None
        turn = max((n for n, message in enumerate(messages) if message["role"] == "user"), default=0)
        fresh = max((n for n, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
        calls = self._stub(messages, max(fresh, turn), int(TRIM_TO * self.max_prompt) - room)
        most = self.max_prompt - room
        turns = self._drop_turns(messages, most)
        calls |= self._cut_fresh(messages, most)
        freed = before - self.count(messages)
        return Trimmed(frozenset(calls), turns, freed) if freed > 0 else None

    def _estimate(self, messages: Sequence[Message]) -> int:
        return self._fixed + estimate_messages(messages)

    def _left_out(self, estimate: int, tokens: int) -> bool:
        if tokens < MIN_TRUNCATED:
            return False
        if self._last is not None and estimate > self._last[0]:
            return tokens < 0.7 * (self._last[1] + self.calibration.ratio * (estimate - self._last[0]))
        return self._last is None and tokens < MIN_RATIO * estimate

    def _shrink(self, size: int) -> None:
        if 0 < size < self.size:
            self.size = self.calibration.limit = size

    def _stub(self, messages: list[Message], end: int, most: int) -> set[str]:
        names = {
            call["id"]: call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()
        }
        calls: set[str] = set()
        for number in range(end):
            message = messages[number]
            if message["role"] != "tool" or is_stub(message["content"]):
                continue
            if self.count(messages) <= most:
                break
            stub = _stub(message["content"], names.get(message["tool_call_id"], "the tool"))
            if len(stub) + MIN_STUB_SAVING < len(message["content"]):
                messages[number] = {**message, "content": stub}
                calls.add(message["tool_call_id"])
        return calls

    def _drop_turns(self, messages: list[Message], most: int) -> int:
        dropped = 0
        while self.count(messages) > most:
            starts = [number for number, message in enumerate(messages) if message["role"] == "user"]
            if len(starts) < 2:
                break
            del messages[starts[0] : starts[1]]
            dropped += 1
        return dropped

    def _cut_fresh(self, messages: list[Message], most: int) -> set[str]:
        excess = self.count(messages) - most
        fresh = [
            n for n, message in enumerate(messages) if message["role"] == "tool" and not is_stub(message["content"])
        ]
        held = sum(len(messages[number]["content"]) for number in fresh)
        if excess <= 0 or not held:
            return set()
        chars = sum(estimate_tokens(messages[number]["content"]) for number in fresh) * self.calibration.ratio
        share = max(0.0, 1 - 1.1 * (excess + 20 * len(fresh)) / max(1.0, chars))
        for number in fresh:
            content = messages[number]["content"]
            messages[number] = {**messages[number], "content": _cut(content, int(share * len(content))) + CUT_END}
        return {messages[number]["tool_call_id"] for number in fresh}


def is_stub(content: str) -> bool:
    """Whether a tool result has given way to a line."""
    return bool(_STUB.search(content))


def _stub(content: str, name: str) -> str:
    return f"{content.partition(chr(10))[0][:120]}\n{STUB_END.format(name)}"


def _cut(text: str, max_chars: int) -> str:
    head = text[:max_chars]
    end = max(head.rfind("\n"), head.rfind(". ") + 1)
    return head[:end] if end > max_chars // 2 else head


def _number(text: str) -> int:
    return int(text.replace(",", "") or 0)
