"""Reasoning between tags in the text, however the stream cuts it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.chat import ChatClient, Delta
from ratsearch_lib.chat.think import ThinkTags

from .conformance.asking import ask
from .conformance.server import ScriptedServer, delta, finish, reasoning, sse, text


def told_apart(pieces, *, inside=False, whole=True):
    """(reasoning, text) of a reply that comes in `pieces`."""
    tags, thought, said = ThinkTags(inside=inside), "", ""
    deltas = [each for piece in pieces for each in tags.feed(Delta(text=piece))]
    for each in [*deltas, *tags.finish(whole=whole)]:
        if each.was_reasoning:
            thought, said = thought + said, ""
        thought += each.reasoning
        said += each.text
    return thought, said


REPLIES = [
    ("<think>Hm.</think>A rat.", "Hm.", "A rat."),
    ("\n<thinking>\nHm.\n</thinking>\n\nA rat.", "\nHm.\n", "\n\n\nA rat."),
    ("<THINK>Hm.</Think>A rat.", "Hm.", "A rat."),
    ("[THINK]Hm.[/THINK]A rat.", "Hm.", "A rat."),
    ("<think></think>A rat.", "", "A rat."),
    ("<think>Hm, a < b", "Hm, a < b", ""),
    ("<think>Hm.</thi", "Hm.</thi", ""),
    ("<think>One <think> two</think>A rat.", "One <think> two", "A rat."),
    ("Hm, rats.</think>\nA rat.", "Hm, rats.", "\nA rat."),
    ("</think>\n\nA rat.", "", "\n\nA rat."),
    ("<think>a</think>Looking.\n<think>b</think>A rat.", "ab", "Looking.\nA rat."),
    ("A rat.", "", "A rat."),
    ("a < b, [1] and <th>head</th> <", "", "a < b, [1] and <th>head</th> <"),
    ("Models write <think> first.", "", "Models write <think> first."),
    ("It ends with `</think>`.", "", "It ends with `</think>`."),
    ("```\n<think>\n</think>\n```", "", "```\n<think>\n</think>\n```"),
    ("", "", ""),
]


@pytest.mark.parametrize(("reply", "thought", "said"), REPLIES)
def test_every_cut_of_a_reply_in_three(reply, thought, said):
    for first in range(len(reply) + 1):
        for second in range(first, len(reply) + 1):
            pieces = filter(None, (reply[:first], reply[first:second], reply[second:]))
            assert told_apart(pieces) == (thought, said)
    assert told_apart(reply) == (thought, said)  # a character at a time


@pytest.mark.parametrize(
    ("reply", "whole", "thought", "said"),
    [
        ("Hm.</think>A rat.", True, "Hm.", "A rat."),
        ("<think>Hm.</think>A rat.", True, "<think>Hm.", "A rat."),
        ("A rat.", True, "A rat.", "A rat."),  # no tag after all: it was the answer
        ("Hm, let me", False, "Hm, let me", ""),
    ],
)
def test_replies_that_begin_with_reasoning(reply, whole, thought, said):
    assert told_apart([reply], inside=True, whole=whole) == (thought, said)
    assert told_apart(reply, inside=True, whole=whole) == (thought, said)


words = st.sampled_from(["<think>", "</think>", "<thinking>", "</thi", "nk>", "<", "[", "Hm", " ", "\n", "`", "```"])


@given(st.lists(words | st.text(max_size=3)), st.data())
def test_any_text_split_anywhere_comes_out_the_same(parts, draw):
    reply = "".join(parts)
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(reply)), max_size=6)))
    pieces = [reply[start:end] for start, end in zip([0, *cuts], [*cuts, len(reply)], strict=True) if start < end]
    assert told_apart(pieces) == told_apart([reply] if reply else [])


@given(st.text(st.characters(exclude_characters="<[")))
def test_text_without_tags_is_left_alone(reply):
    assert told_apart([reply] if reply else []) == ("", reply)


def replies_of(*replies):
    with ScriptedServer(replies) as server:
        client = ChatClient(server.base_url)
        return [ask(server, client) for _ in replies]


def test_a_client_learns_that_replies_begin_with_reasoning():
    reply = sse(text("Hm."), text("</think>"), text("A rat."), finish())
    first, second = replies_of(reply, reply)
    assert first == [
        Delta(text="Hm."), Delta(was_reasoning=True), Delta(text="A rat."), Delta(finish_reason="stop")
    ]  # fmt: skip
    assert second == [Delta(reasoning="Hm."), Delta(text="A rat."), Delta(finish_reason="stop")]


def test_a_server_that_tells_them_apart_after_all_is_believed():
    unopened = sse(text("Hm.</think>A rat."), finish())
    _, second = replies_of(unopened, sse(reasoning("Hm."), text("A rat."), finish()))
    assert second == [Delta(reasoning="Hm."), Delta(text="A rat."), Delta(finish_reason="stop")]


def test_text_and_the_end_in_one_chunk():
    both = {"choices": [{"delta": {"content": "<think>Hm.</think>A rat."}, "finish_reason": "stop"}]}
    (deltas,) = replies_of(sse(both))
    assert deltas == [Delta(reasoning="Hm."), Delta(text="A rat."), Delta(finish_reason="stop")]
    call = [{"index": 0, "id": "a", "function": {"name": "read", "arguments": ""}}]
    (deltas,) = replies_of(sse(delta(content="Hm.</think>", tool_calls=call), finish()))
    assert [(each.text, each.was_reasoning, len(each.tool_calls)) for each in deltas[:3]] == [
        ("Hm.", False, 0), ("", True, 0), ("", False, 1)
    ]  # fmt: skip
