"""What passes between an agent and its tools, so that neither knows the other.

A tool is a function that takes strings and returns the text that the model reads. One that also declares a
parameter `context` is given a `ToolContext`, which the model never sees.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .text import Passage, words

# A question with one of these leans on the question before it.
PRONOUNS = frozenset("he she it they him her them his hers its their theirs".split())
MAX_QUESTIONS_BACK = 3


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What a reading tool found.

    text      what the model sees; its first line says what it is
    title     the article's title, None when nothing was read
    source    ``FILE.zim/PATH``, None when nothing was read
    passages  what answers the question best, best first (empty without a question)
    quotes    the article's own best sentences for the question, best first (empty without a question)

    >>> ReadResult("Article: Oxygen\\n\\nA gas.", "Oxygen", "a.zim/Oxygen").text.split("\\n")[0]
    'Article: Oxygen'
    """

    text: str
    title: str | None = None
    source: str | None = None
    passages: tuple[Passage, ...] = ()
    quotes: tuple[Passage, ...] = ()


@dataclass(slots=True)
class ToolContext:
    """What a tool may know about the conversation, and where it leaves what it read.

    question            the person's question of this turn
    previous_questions  those of the turns before, oldest first
    max_tokens          the room for the result in the context window; None: no limit but the tool's own
    choose              read the best match instead of listing the nearest titles (the model cannot choose)
    sources             what was read in this run: the tool appends
    """

    question: str = ""
    previous_questions: tuple[str, ...] = ()
    max_tokens: int | None = None
    choose: bool = False
    sources: list[ReadResult] = field(default_factory=list)

    @property
    def query(self) -> str:
        """The question as words to look up: with the one before it, where it leans on that.

        >>> ToolContext("And when did he die?", ("Who was George IV?",)).query
        'Who was George IV? And when did he die?'
        """
        asked = [self.question]
        for before in reversed(self.previous_questions[-MAX_QUESTIONS_BACK:]):
            if not _leans(asked[0]):
                break
            asked.insert(0, before)
        return " ".join(asked)


def _leans(question: str) -> bool:
    said = words(question)
    return not PRONOUNS.isdisjoint(said) or said[:1] == ["and"] or said[:2] in (["what", "about"], ["how", "about"])
