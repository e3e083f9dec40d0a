"""What happened in a run, in the words that the page, notebooks and the terminal share."""

from __future__ import annotations

from collections.abc import Sequence

from .agent.events import ContextTrimmed, ToolResult
from .evidence import SentenceEvidence, is_found, summary, verdict_words

MAX_TITLE_CHARS = 80
MAX_DOUBTED = 3  # sentences that were not found, in words

STOP_REASONS = {
    "length": "The reply was cut off at the model's token limit.",
    "max_steps": "The model went on calling tools, so it was asked to answer with what it had read.",
    "repeated": "The model asked for what it had read already, so it was asked to answer with that.",
    "empty": "The model's reply was empty: ask again, or in other words.",
}


def evidence_words(sentences: Sequence[SentenceEvidence]) -> str:
    """How many sentences were found, and what is wrong with the first that were not; "" where nothing is claimed."""
    words = summary(sentences)
    doubted = [each for each in sentences if each.verdict and not is_found(each)]
    shown = [f"“{one_line(each.sentence)}” {verdict_words(each)}" for each in doubted[:MAX_DOUBTED]]
    if len(doubted) > MAX_DOUBTED:
        shown.append(f"{len(doubted) - MAX_DOUBTED} more")
    return f"{words}. Check: {'; '.join(shown)}." if shown else words and f"{words}."


def trimmed_words(event: ContextTrimmed) -> str:
    """What had to give way, in a sentence.

    >>> trimmed_words(ContextTrimmed(results=2, turns=1, tokens=1500))
    'The conversation no longer fits the context window: 2 results were cut, 1 turn was left out (about 1,500 tokens).'
    """
    parts = [
        f"{number(n, unit)} {'was' if n == 1 else 'were'} {done}"
        for n, unit, done in ((event.results, "result", "cut"), (event.turns, "turn", "left out"))
        if n
    ]
    what = ", ".join(parts) or "it was shortened"
    return f"The conversation no longer fits the context window: {what} (about {number(event.tokens, 'token')})."


def prefill_words(processed: int, total: int) -> str:
    if processed <= 0:
        return "Processing…"
    of = f" of {total}" if total > processed else ""
    return f"{processed}{of} tokens Reading…"


def number(n: int, unit: str) -> str:
    return f"{n:,} {unit}{'' if n == 1 else 's'}"


def one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_TITLE_CHARS else text[: MAX_TITLE_CHARS - 1] + "…"


def call_title(name: str, arguments: dict) -> str:
    shown = ", ".join(str(value) for value in arguments.values())
    return one_line(f"{name} | {shown}" if shown else name)


def result_title(event: ToolResult) -> str:
    if event.title:
        return one_line(f"Read: {event.title}")
    first_line = one_line(event.text.lstrip().partition("\n")[0]).rstrip(":")
    if event.is_error:
        return f"Error: {first_line}" if first_line else "Error"
    return first_line or "Empty result"
