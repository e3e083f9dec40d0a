"""Chunks of streamed replies, in the shapes that servers really send."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratsearch_lib.chat import Delta, ToolCallDelta
from ratsearch_lib.chat.wire import encodable, read_chunk

FIELDS = """
    choices delta message content reasoning_content tool_calls function name arguments id index finish_reason
    usage prompt_tokens completion_tokens prompt_progress processed total timings predicted_n
""".split()
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
chunks = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(FIELDS), chunks))
def test_no_chunk_raises_and_every_field_has_its_type(chunk):
    delta = read_chunk(chunk)
    assert isinstance(delta.text, str)
    assert isinstance(delta.reasoning, str)
    assert delta.finish_reason is None or delta.finish_reason
    for pair in (delta.prefill, delta.usage):
        assert pair is None or all(type(count) is int and count >= 0 for count in pair)
    for call in delta.tool_calls:
        assert all(isinstance(value, str) for value in (call.id, call.name, call.arguments))
        assert call.index >= 0


@given(st.text(st.characters(exclude_categories=()), max_size=5))
def test_text_that_utf8_cannot_hold_is_mended_both_ways(text):
    received = read_chunk({"choices": [{"delta": {"content": text}}]}).text
    sent = encodable({"messages": [{"content": text}]})["messages"][0]["content"]
    assert received == sent
    assert sent.encode().decode() == sent
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert sent == text


def test_two_halves_of_a_character_become_one():
    assert encodable({"content": "\ud83d\udc00 rat"}) == {"content": "🐀 rat"}
    assert encodable({"content": "caf\udce9"}) == {"content": "caf\ufffd"}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"index": 1, "id": "a", "function": {"name": "f", "arguments": "{"}}, ToolCallDelta(1, "a", "f", "{")),
        ({"function": {"name": "f", "arguments": {"title": "Á"}}}, ToolCallDelta(0, "", "f", '{"title": "Á"}')),
        ({"index": None, "id": None, "function": {"name": None, "arguments": None}}, ToolCallDelta(0)),
        ({"index": 0, "function": None}, ToolCallDelta(0)),
    ],
    ids=["usual", "arguments as an object, no index", "nulls", "no function"],
)
def test_tool_calls(call, expected):
    assert read_chunk({"choices": [{"delta": {"tool_calls": [call]}}]}) == Delta(tool_calls=(expected,))


def test_two_calls_without_index_stay_two():
    calls = [{"function": {"name": "f"}}, {"function": {"name": "g"}}]
    assert [call.index for call in read_chunk({"choices": [{"delta": {"tool_calls": calls}}]}).tool_calls] == [0, 1]


@pytest.mark.parametrize("chunk", [{}, {"choices": []}, {"choices": None}, {"choices": [None]}, {"choices": [{}]}])
def test_chunks_that_bring_nothing(chunk):
    assert read_chunk(chunk) == Delta()
