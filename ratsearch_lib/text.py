"""The analyzer: tokens and sentences for any script, shared by reading and documents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of an article or document, and how well it answers the question.

    text     as it stands in the source: a paragraph, a sentence, or a table row with its header row
    section  the heading it stands under ("" for the lead)
    score    higher is better; 0 when nothing was asked
    """

    text: str
    section: str = ""
    score: float = 0.0
