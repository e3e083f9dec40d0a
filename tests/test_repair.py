"""Broken tool calls: what small models were seen to write, and what was meant."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratsearch_lib.agent.step import parse_arguments
from ratsearch_lib.chat.repair import HeldText, find_calls, repair_arguments, repair_name

TOOLS = {"read_article": ["title"]}
RAT = [("read_article", {"title": "Rat"})]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('{"title": "Rat"}', {"title": "Rat"}),
        ('{"title": "Rat", "required": ["title"]}', {"title": "Rat"}),
        ('{"title": " Rat "}', {"title": "Rat"}),
        ('{"title": ["Rat"]}', {"title": "Rat"}),
        ('{"query": "Rat"}', {"title": "Rat"}),
        ('{"title": "Rat"', {"title": "Rat"}),
        ('{"title": "Brown r', {"title": "Brown r"}),
        ('{"title": "Rat"}}', {"title": "Rat"}),
        ("{'title': 'Rat'}", {"title": "Rat"}),
        ('{title: "Rat"}', {"title": "Rat"}),
        ('"Rat"', {"title": "Rat"}),
        ("Rat", {"title": "Rat"}),
        ("1984", {"title": "1984"}),
        ('[{"title": "Rat"}]', {"title": "Rat"}),
        (json.dumps(json.dumps({"title": "Rat"})), {"title": "Rat"}),
        ('{"name": "read_article", "arguments": {"title": "Rat"}}', {"title": "Rat"}),
        ('{"arguments": "{\\"title\\": \\"Rat\\"}"}', {"title": "Rat"}),
        ('{"title": "Guns N\' Roses"}', {"title": "Guns N' Roses"}),
        ('{"title": "a\nb"}', {"title": "a\nb"}),
        ('{{"title": "Rat"}}', {"title": "Rat"}),
        ("", None),
        ("{}", None),
        ("[]", None),
        ("null", None),
        ('{"a": "x", "b": "y"}', None),
    ],
)
def test_arguments(written, meant):
    assert repair_arguments(written, ["title"]) == meant


@pytest.mark.parametrize("levels", [60, 900, 960, 980, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"title":'])
def test_nesting_without_end_is_no_call(opening, levels):
    closing = {"[": "]", "{": "}"}[opening[0]]
    whole = '{"title": ' + opening * levels + "1" + closing * levels + "}"
    assert parse_arguments(whole) is None
    assert parse_arguments(opening * levels) is None
    json.dumps(repair_arguments(whole, ["title"]))
    for written in (whole, opening * levels):
        json.dumps(find_calls('{"name": "read_article", "arguments": ' + written + "}", TOOLS))


@pytest.mark.parametrize(
    ("name", "arguments", "meant"),
    [
        ("read_article", {}, "read_article"),
        ("readArticle", {}, "read_article"),
        ("functions.read_article", {}, "read_article"),
        ("search_wikipedia", {"query": "Rat"}, "read_article"),
        ("Mars", {"title": "Mars"}, "read_article"),
        ("get_weather", {"city": "Oslo"}, "get_weather"),
        ("open_door", {"door": "left"}, "open_door"),
    ],
)
def test_names(name, arguments, meant):
    assert repair_name(name, arguments, TOOLS) == meant


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "read_article", "arguments": {"title": "Rat"}}',
        '{"name": "read_article", "arguments": {"title": "Rat"}',
        '{"name": "read_article", "parameters": {"title": "Rat"}}. It is a rodent.',
        '```json\n{\n  "name": "read_article",\n  "arguments": {\n    "title": "Rat"\n  }\n}\n```',
        '<tool_call>\n{"name": "read_article", "arguments": {"title": "Rat"}}\n</tool_call>',
        '<tools>\n{"name": "read_article", "arguments": {"title": "Rat"}}\n</tools>',
        '<function=read_article>{"title": "Rat"}</function>',
        "<function=read_article>\n<parameter=title>\nRat\n</parameter>\n</function>",
        '[TOOL_CALLS][{"name": "read_article", "arguments": {"title": "Rat"}}]',
        '[TOOL_CALLS]read_article{"title": "Rat"}',
        "<tool_call>read_article\n<arg_key>title</arg_key>\n<arg_value>Rat</arg_value></tool_call>",
        'read_article("Rat")',
        "read_article(title='Rat')",
        'read_article title "Rat"',
        'read_article title "Rat',
        'I call `read_article("Rat")` now.',
        '{"name": "search_wikipedia", "arguments": {"query": "Rat"}}',
        '{"tool": "read_article", "input": "Rat"}',
        '{"type": "function", "function": {"name": "read_article", "description": "read a wikipedia article", '
        '"parameters": {"type": "object", "properties": {"title": {"type": "string"}}}}\n'
        '{"name": "read_article", "arguments": {"title": "Rat"}}',
    ],
)
def test_calls_written_as_text(text):
    assert find_calls(text, TOOLS) == RAT


@pytest.mark.parametrize(
    "text",
    ["A rat is a rodent.", 'The read_article tool is "good".', '{"order": "Rodentia"}', "\\frac{1}{2}", "", "```\n```"],
)
def test_what_is_no_call(text):
    assert find_calls(text, TOOLS) == []


def test_unknown_tools_are_kept_to_be_told_what_exists():
    assert find_calls('{"name": "get_weather", "arguments": {"city": "Oslo"}}', TOOLS) == [
        ("get_weather", {"city": "Oslo"})
    ]


def test_what_real_models_wrote(data):
    """56 replies of Qwen2.5-Coder; the titles were read out of them by eye, by the first quotation after "title"."""
    cases = json.loads((data / "captures" / "malformed_tool_calls_in_content.json").read_text(encoding="utf-8"))
    assert len(cases) == 56
    for case in cases:
        content = case["content"]
        tail = content.partition("</tools>\n\n")[2] or content
        is_call = '"arguments"' in tail or "read_article title" in tail
        calls = find_calls(content, TOOLS)
        assert bool(calls) == is_call, content
        if is_call:
            first = tail.partition("title")[2].lstrip('": ').partition('"')[0].strip()
            assert calls[0] == ("read_article", {"title": first})


@given(st.text())
def test_any_text_is_survived(text):
    find_calls(text, TOOLS)
    for parameters in ([], ["title"], ["a", "b"]):
        arguments = repair_arguments(text, parameters)
        assert arguments is None or json.dumps(arguments)


pieces = st.sampled_from(
    ["read_article", "(", '"', "{", "}", "```json\n", "<tool_call>", "name", ":", " ", "Rat", "[", "\n"]
)


@given(st.lists(pieces | st.text(max_size=3)))
def test_held_text_loses_nothing(parts):
    held = HeldText(TOOLS)
    shown = "".join([held.feed(part) for part in parts])
    assert shown + held.rest == "".join(parts)


@settings(max_examples=40)
@given(st.text(max_size=30), st.data())
def test_a_call_is_never_shown_however_it_is_split(before, split):
    text = (
        before.replace("{", "").replace("[", "").replace("<", "").replace("`", "")
        + ' {"name": "read_article", "arguments"'
    )
    held = HeldText(TOOLS)
    shown = ""
    while text:
        size = split.draw(st.integers(1, len(text)))
        shown += held.feed(text[:size])
        text = text[size:]
    assert "{" not in shown
