"""A conversation on a real llama.cpp server: what it has read, it does not read again."""

import pytest

from ratsearch_lib import Agent, ChatClient, LocalServer, Prefill

LONG = "The brown rat is a rodent that lives in cities, eats what it finds and is awake at night. " * 10
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "read_article", "arguments": '{"title": "Brown rat"}'},
}


def read_article(title: str) -> str:
    """read a wikipedia article"""
    return f"Article: {title}"


@pytest.fixture(scope="module")
def server(weights):
    with LocalServer(weights, n_ctx=2048) as server:
        yield server


def reused(events):
    """The share of a prompt's tokens that the server had read before: where its first report begins."""
    first = next(event for event in events if isinstance(event, Prefill) and event.total)
    return first.processed / first.total


def test_later_turns_come_from_the_prompt_cache(server):
    history = [
        {"role": "user", "content": "What do brown rats eat?"},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": f"Article: Brown rat\n{LONG}"},
        {"role": "assistant", "content": "They eat what they find."},
    ]
    client = ChatClient(server.base_url, None, server.api_key, temperature=0, max_tokens=8)
    agent = Agent(client, [read_article], mode="tools")
    first = list(agent.run("Is that so?", history))
    assert reused(first) < 0.5
    second = list(agent.run("And where do they live?", first[-1].messages))
    third = list(agent.run("Since when?", second[-1].messages))
    assert reused(second) > 0.9
    assert reused(third) > 0.9
