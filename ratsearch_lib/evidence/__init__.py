"""Which sentences of an answer the articles support, found without a model: `check`.

answer    an answer's sentences, and what of them is quoted
sources   what was read, as passages
forms, numbers    words and numbers as they are compared
compare   how far a passage bears a sentence out
check     the verdicts
show      the verdicts in words, and as citations
"""

from .check import SentenceEvidence, Verdict, check
from .show import citations, cited, is_found, mark, summary, verdict_words

__all__ = [
    "SentenceEvidence", "Verdict", "check", "citations", "cited", "is_found", "mark", "summary", "verdict_words",
]  # fmt: skip
