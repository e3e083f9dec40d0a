"""Subagents: fresh conversations, a long article in parts, no more at once than the server works on."""

import asyncio

import pytest

from ratsearch_lib import Article, ChatClient, Library, subagent, summarise
from ratsearch_lib.agent.subagents import asubagent, asummarise, pack, parts
from ratsearch_lib.article import Section
from ratsearch_lib.chat.window import estimate_tokens
from ratsearch_lib.errors import BadReply, EntryNotFound

from .conformance.asking import LONG_S
from .conformance.server import HOLD, ScriptedServer, finish, json_reply, llamacpp_props, say, sse, text
from .zims import make_archive

SLOTS = 2
NAMES = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """One article of five sections, of about 1,000 tokens each."""
    sections = "".join(f"<h2>{name}</h2><p>{f'{name} is a letter of the alphabet. ' * 115}</p>" for name in NAMES)
    path = tmp_path_factory.mktemp("zim") / "letters.zim"
    make_archive(path, [("Letters", "Letters", f"<html><body><h1>Letters</h1><p>They are five.</p>{sections}</body>")])
    with Library.open(path, build="wait") as library:
        yield library


def asked(request):
    return request.json["messages"][-1]["content"]


def read(request):
    """Notes the sections that it was given, or joins the notes."""
    prompt = asked(request)
    if prompt.startswith("Notes:"):
        return say(f"Joined {prompt.count('Seen')}: " + " ".join(name for name in NAMES if name in prompt))
    names = [name for name in NAMES if f"{name} is a letter" in prompt and name != "Gamma"]
    return say(f"Seen {' '.join(names)}." if names else "Nothing.")


def serve(script=read, n_ctx=8192):
    return ScriptedServer(script, routes={"GET /props": llamacpp_props(n_ctx=n_ctx, slots=SLOTS)})


def test_a_subagent_is_a_fresh_conversation():
    with ScriptedServer([sse(text(""), finish()), say("<think>Hm.</think> Le rat court. ")]) as server:
        assert subagent(ChatClient(server.base_url), "Translate.", "The rat runs.") == "Le rat court."
        body = server.requests[0].json
    assert body["messages"] == [
        {"role": "system", "content": "Translate."},
        {"role": "user", "content": "The rat runs."},
    ]
    assert "tools" not in body


def test_an_article_is_read_in_parts_and_joined(library):
    with serve() as server:
        answer = summarise(ChatClient(server.base_url), library, "letters", "Which are there?")
        prompts = [asked(request) for request in server.requests]
    assert answer == "Joined 4: Alpha Beta Delta Epsilon"  # of Gamma there was nothing to say
    *readers, writer = prompts
    assert len(readers) == 5
    assert all(prompt.startswith("Letters\n\n") and prompt.endswith("Question: Which are there?") for prompt in readers)
    assert [sum(f"{name}\n{name} is a letter" in prompt for prompt in readers) for name in NAMES] == [1] * 5
    assert "They are five." in readers[0]
    assert writer.startswith("Notes:\n\nSeen Alpha.\n\nSeen Beta.")


def test_a_small_window_gets_smaller_parts(library):
    with serve(n_ctx=1024) as server:
        summarise(ChatClient(server.base_url), library, "Letters", "Which?")
        prompts = [asked(request) for request in server.requests]
    assert len(prompts) > 10
    assert max(map(estimate_tokens, prompts)) < 600


def test_nothing_said_is_nothing(library):
    with serve(lambda request: say("NOTHING")) as server:
        assert summarise(ChatClient(server.base_url), library, "Letters", "Who?") == ""


def test_no_such_article(library):
    with serve() as server, pytest.raises(EntryNotFound, match="Bicycle"):
        summarise(ChatClient(server.base_url), library, "Bicycle", "What?")
    assert not server.requests


async def until(condition):
    deadline = asyncio.get_running_loop().time() + LONG_S
    while not condition():
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0)


async def test_no_more_at_once_than_slots_and_cancelling_cancels_all(library):
    with serve(lambda request: sse(text("Seen"), HOLD, text("."), finish())) as server:
        before = asyncio.all_tasks()
        task = asyncio.create_task(asummarise(ChatClient(server.base_url), library, "Letters", "Which?"))
        await until(lambda: len(server.requests) == SLOTS and server.open_connections == SLOTS)
        for _ in range(200):  # a third would come now
            await asyncio.sleep(0)
        assert len(server.requests) == SLOTS
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: server.closed_early == SLOTS and server.open_connections == 0)
        assert asyncio.all_tasks() == before
        assert len(server.requests) == SLOTS


async def test_one_that_fails_ends_the_others(library):
    def script(request):
        return json_reply({"nothing": 1}) if "Alpha\n" in asked(request) else sse(text("Seen"), HOLD)

    with serve(script) as server:
        with pytest.raises(BadReply):
            await asummarise(ChatClient(server.base_url), library, "Letters", "Which?")
        await until(lambda: server.open_connections == 0)
        assert len(server.requests) <= SLOTS


async def test_a_cancelled_subagent_closes_its_request():
    with ScriptedServer([sse(text("x"), HOLD)]) as server:
        task = asyncio.create_task(asubagent(ChatClient(server.base_url), "s", "p"))
        await until(lambda: server.holding.is_set())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(server.closed.is_set)


def test_parts_lose_nothing():
    words = [f"w{n}" for n in range(3000)]
    article = Article(
        "T", lead=" ".join(words[:10]), sections=(Section(2, "H", "\n\n".join([" ".join(words[10:2000]), "x" * 999])),)
    )
    found = parts(article, 100)
    assert all(estimate_tokens(part) <= 110 for part in found)
    text = " ".join(found)
    assert [word for word in text.split() if word.startswith("w")] == words[:2000]
    assert text.count("x") == 999


@pytest.mark.parametrize(
    ("texts", "packed"),
    [([], []), (["", " "], []), (["a" * 40, "b" * 40], ["a" * 40, "b" * 40]), (["a", "b"], ["a\n\nb"])],
)
def test_pack(texts, packed):
    assert pack(texts, 12) == packed
