"""Guided mode, for models that cannot call tools: the agent looks up, the model only words the answer.

A model of 135M parameters does not call a tool when told to (0 of 19 tries), but it can name a title under a JSON
schema, and it can put a sentence together from a passage. So: ask it for a title, let the tool choose the article that
answers best, put the best passages before the question, and close with the article's own best sentence, quoted. What
the model says is shown only where the passages bear it out.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from ..chat.client import ChatClient
from ..errors import BadReply, ChatError
from ..text import STOP_WORDS, Passage, sentences, tokens, words
from ..tools import ToolContext
from .events import Event, RunFinished, TextDelta, ToolCall, Usage
from .step import Call, Reply, parse_arguments, stream_reply
from .toolbox import Toolbox

TITLE_PROMPT = [
    {"role": "system", "content": "Reply with the title of the encyclopedia article about the question, as JSON."},
    {"role": "user", "content": "How tall is the Eiffel Tower?"},
    {"role": "assistant", "content": '{"title": "Eiffel Tower"}'},
    {"role": "user", "content": "When was Mozart born?"},
    {"role": "assistant", "content": '{"title": "Wolfgang Amadeus Mozart"}'},
]
TITLE_FORMAT = {
    "type": "json_schema",
    "json_schema": {
        "name": "lookup",
        "schema": {
            "type": "object",
            "properties": {"title": {"type": "string", "maxLength": 80}},
            "required": ["title"],
            "additionalProperties": False,
        },
    },
}
TITLE_TOKENS = 40
ANSWER_TOKENS = 80
PASSAGES = 2  # a small model copies what is near: the fewer, the better
PASSAGE_CHARS = 1200
RECENT = 5  # messages that small talk may lean on
MIN_SHARE = 0.7  # of an answer's content words that the passages must hold

GREETINGS = frozenset(
    """hi hello hey howdy greetings good morning afternoon evening night bye goodbye thanks thank thx please ok okay yes
    yep nope sure great nice cool awesome fine sorry welcome going doing today hola gracias bonjour salut merci hallo
    danke ciao grazie olá obrigado привет спасибо 你好 谢谢""".split()
)
ADDRESSED = frozenset(("how are you", "who are you", "what are you", "what can you do", "are you there"))
UNREAD_MARK = "\n\n*(Said without reading an article.)*"


async def run_guided(
    client: ChatClient, toolbox: Toolbox, messages: list[dict[str, Any]], context: ToolContext
) -> AsyncGenerator[Event, None]:
    """The events of one turn; the last message of `messages` is the question."""
    usage = [0, 0]
    reply = Reply()
    if is_small_talk(context.question):
        said = [each for each in messages if each["role"] in ("user", "assistant") and not each.get("tool_calls")]
        async with aclosing(stream_reply(client, said[-RECENT:], reply, max_tokens=ANSWER_TOKENS)) as events:
            async for event in events:
                yield event
        _count(usage, reply)
        answer = reply.text.strip() + UNREAD_MARK
        yield TextDelta(UNREAD_MARK)
        yield _finished(answer, messages, usage, "answered")
        return

    query = context.query
    prompt = [*TITLE_PROMPT, {"role": "user", "content": query}]
    asking = _unseen(client, prompt, reply, max_tokens=TITLE_TOKENS, response_format=TITLE_FORMAT)
    async with aclosing(asking) as events:
        async for event in events:
            yield event
    _count(usage, reply)
    title = (parse_arguments(reply.text) or {}).get("title")
    title = title.strip() if isinstance(title, str) and title.strip() else query

    function = toolbox.schemas[0]["function"]
    parameter = function["parameters"]["required"][0]
    call = Call("guided_1", function["name"], {parameter: title})
    context.choose = True
    yield ToolCall(call.id, call.name, {parameter: title})
    result = await toolbox.run(call, context)
    yield result
    if not context.sources:
        answer = _not_found(result.text, result.is_error)
        yield TextDelta(answer)
        yield _finished(answer, messages, usage, "not_found")
        return

    source = context.sources[-1]
    passages = source.passages[:PASSAGES]
    reply = Reply()
    async with aclosing(_unseen(client, _answer_prompt(passages, query), reply, max_tokens=ANSWER_TOKENS)) as events:
        async for event in events:
            yield event
    _count(usage, reply)
    said = borne_out(reply.text, [passage.text for passage in passages] + [source.title or "", query])
    quotation = _quotation(source.quotes or passages, source.title or "")
    answer = f"{said}\n\n{quotation}" if said else quotation
    yield TextDelta(answer)
    yield _finished(answer, messages, usage, "answered")


async def _unseen(
    client: ChatClient, prompt: Sequence[dict[str, Any]], reply: Reply, **options: Any
) -> AsyncGenerator[Event, None]:
    """A request whose text is not for the person: only its progress is told. A refused `response_format` is let go."""
    try:
        async with aclosing(stream_reply(client, prompt, reply, temperature=0, **options)) as events:
            async for event in events:
                if not isinstance(event, TextDelta):
                    yield event
    except ChatError as error:
        if "response_format" not in options or (error.status != 400 and not isinstance(error, BadReply)):
            raise


def _answer_prompt(passages: Sequence[Passage], query: str) -> list[dict[str, Any]]:
    text = "\n\n".join(_cut(passage.text, PASSAGE_CHARS) for passage in reversed(passages))  # the best one nearest
    return [{"role": "user", "content": f"{text}\n\nQuestion: {query}\nAnswer in one sentence from the text above."}]


def _cut(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    return text[: max(text.rfind(" ", 0, max_chars), 0) or max_chars]


def _quotation(passages: Sequence[Passage], title: str) -> str:
    lines = (passages[0].text if passages else "").strip().splitlines()
    quoted = "\n".join(f"> {line}" for line in lines)
    return f"{quoted}\n>\n> — {title}" if lines else f"See the article {title}."


def _not_found(result: str, is_error: bool) -> str:
    titles = [] if is_error else result.splitlines()[1:6]
    nearest = f" The nearest titles are: {', '.join(titles)}." if titles else ""
    return f"I found no article that answers this.{nearest}"


def _count(usage: list[int], reply: Reply) -> None:
    usage[0] += reply.prompt_tokens
    usage[1] += reply.completion_tokens


def _finished(answer: str, messages: list[dict[str, Any]], usage: list[int], stop_reason: str) -> RunFinished:
    messages = [*messages, {"role": "assistant", "content": answer}]
    return RunFinished(answer, messages, Usage(*usage), stop_reason)


def is_small_talk(question: str) -> bool:
    """Whether a question asks for nothing that an encyclopedia holds.

    >>> is_small_talk("Hi, how's it going?"), is_small_talk("How tall is Denali?"), is_small_talk("Who is The Who?")
    (True, False, False)
    """
    said = words(question.replace("'s", " ").replace("’s", " "))
    if " ".join(said) in ADDRESSED:
        return True
    return any(word in GREETINGS for word in said) and all(word in GREETINGS or word in STOP_WORDS for word in said)


def borne_out(answer: str, texts: Sequence[str]) -> str:
    """The sentences of an answer whose content words and numbers stand in the texts.

    >>> borne_out("The capital of Norway is Oslo. It has 9 million people.", ["Oslo is the capital of Norway."])
    'The capital of Norway is Oslo.'
    """
    known = {token for text in texts for token in tokens(text)}
    kept = []
    for sentence in sentences(answer):
        content = [token for token in tokens(sentence) if token not in STOP_WORDS]
        numbers = [token for token in content if token.isdigit()]
        share = sum(token in known for token in content) / max(1, len(content))
        if not content or share < MIN_SHARE or any(number not in known for number in numbers):
            break  # what follows leans on it
        kept.append(sentence)
    return " ".join(kept)
