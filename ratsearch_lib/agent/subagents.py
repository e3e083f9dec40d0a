"""Subagents: a model asked in a conversation of its own, and what can be built on that.

A long article does not fit a small window, and a small model loses its way in what does fit: read in parts, each by a
subagent that sees nothing else, it does both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeVar

from ..chat import bridge
from ..chat.client import ChatClient
from ..chat.window import estimate_tokens
from ..errors import EntryNotFound
from .events import RunFinished
from .loop import Agent

if TYPE_CHECKING:
    from ..article import Article
    from ..library import Library
    from .replay import ReplayClient

READER = (
    "You read part of an encyclopedia article. Write down, in a few sentences, what it says about the question. "
    "If it says nothing about it, reply only: NOTHING"
)
WRITER = (
    "You are given notes on the parts of an encyclopedia article. Join them to one answer to the question, without "
    "adding anything to what they say."
)
NOTHING = "NOTHING"
PART_TOKENS = 1500  # a small model overlooks most of what is longer
PART_SHARE = 0.5  # of the window at most
MAX_ROUNDS = 4  # of joining notes that do not fit

T = TypeVar("T")


def subagent(client: ChatClient | ReplayClient, system: str, prompt: str) -> str:
    """What a model answers to `prompt` in a fresh conversation under the `system` prompt; "" if nothing. ChatError.

    >>> subagent(client, "Translate to French.", "The rat runs.")                         # doctest: +SKIP
    'Le rat court.'
    """
    return bridge.run(asubagent(client, system, prompt))


async def asubagent(client: ChatClient | ReplayClient, system: str, prompt: str) -> str:
    """`subagent`, for callers that are async. Cancelling it closes the request."""
    agent = Agent(client, [], mode="tools", system_prompt=system)
    answer = ""
    async with aclosing(agent.arun(prompt)) as events:
        async for event in events:
            if isinstance(event, RunFinished):
                answer = event.answer
    return answer


def summarise(client: ChatClient | ReplayClient, library: Library, title: str, question: str) -> str:
    """What the article with this title says about a question, read in parts by subagents; "" if nothing.

    Costs a request for each part of about 1,500 tokens, as many at once as the server works on. EntryNotFound where
    there is no such article, ArticleError where its page holds no text, ChatError.

    >>> summarise(client, library, "Oxygen", "Who discovered it?")                          # doctest: +SKIP
    'Carl Wilhelm Scheele and Joseph Priestley, independently of each other.'
    """
    return bridge.run(asummarise(client, library, title, question))


async def asummarise(client: ChatClient | ReplayClient, library: Library, title: str, question: str) -> str:
    """`summarise`, for callers that are async. Cancelling it cancels the subagents."""
    article = await asyncio.to_thread(_find, library, title)
    slots = max(1, await client.aslots())
    most = max(200, min(PART_TOKENS, int(PART_SHARE * await client.awindow() / client.calibration.ratio)))

    async def read(part: str) -> str:
        answer = await asubagent(client, READER, f"{part}\n\nQuestion: {question}")
        return "" if answer.strip(" .*\n").upper() == NOTHING else answer

    async def join(notes: str) -> str:
        return await asubagent(client, WRITER, f"Notes:\n\n{notes}\n\nQuestion: {question}")

    pieces = parts(article, most)
    notes = [note for note in await _each([lambda part=part: read(part) for part in pieces], slots) if note]
    for _ in range(MAX_ROUNDS):
        if len(notes) < 2:
            break
        groups = pack(notes, most)
        if len(groups) == len(notes):  # none has room beside another
            groups = ["\n\n".join(notes[n : n + 2]) for n in range(0, len(notes), 2)]
        notes = [note for note in await _each([lambda g=g: join(g) for g in groups], slots) if note]
    return "\n\n".join(notes)


def parts(article: Article, max_tokens: int) -> list[str]:
    """An article cut between its sections, and long ones between paragraphs, into parts of at most `max_tokens`.

    Each begins with the article's title, and the heading that it stands under.
    """
    sections = [("", article.lead), *((section.heading, section.text) for section in article.sections)]
    blocks = []
    for heading, text in sections:
        head = f"{heading}\n" if heading else ""
        blocks += [f"{head}{piece}" for piece in pack(_paragraphs(text, max_tokens), max_tokens)]
    return [f"{article.title}\n\n{part}" for part in pack(blocks, max_tokens)]


def pack(texts: Sequence[str], max_tokens: int) -> list[str]:
    """Join neighbouring texts, a blank line between them, as long as they take at most `max_tokens`.

    >>> pack(["one two", "three", "a much longer text than those"], 6)
    ['one two\\n\\nthree', 'a much longer text than those']
    """
    packed: list[str] = []
    for text in texts:
        if packed and estimate_tokens(f"{packed[-1]}\n\n{text}") <= max_tokens:
            packed[-1] = f"{packed[-1]}\n\n{text}"
        elif text.strip():
            packed.append(text)
    return packed


def _paragraphs(text: str, max_tokens: int) -> list[str]:
    """The paragraphs of a text; those that are too long come in pieces, cut at white space where there is some."""
    found = []
    for paragraph in text.split("\n\n"):
        while estimate_tokens(paragraph) > max_tokens:
            end = len(paragraph) * max_tokens // estimate_tokens(paragraph)
            end = max(paragraph.rfind(" ", end // 2, end), paragraph.rfind("\n", end // 2, end)) + 1 or max(1, end)
            found.append(paragraph[:end])
            paragraph = paragraph[end:]
        found.append(paragraph)
    return found


async def _each(jobs: Sequence[Callable[[], Awaitable[T]]], at_once: int) -> list[T]:
    """What the jobs return, in order. When one fails, or this is cancelled, none goes on."""
    room = asyncio.Semaphore(at_once)

    async def work(job: Callable[[], Awaitable[T]]) -> T:
        async with room:
            return await job()

    tasks = [asyncio.ensure_future(work(job)) for job in jobs]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _find(library: Library, title: str) -> Article:
    """The article of that title, or of the one that is clearly meant."""
    result = library.read(title)
    if result.title is None:
        raise EntryNotFound(f'There is no article "{title}". {" ".join(result.text.split())[:300]}')
    return library.article_of(result.source)
