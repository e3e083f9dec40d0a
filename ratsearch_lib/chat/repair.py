"""Tool calls that arrive broken: arguments that are not quite JSON, tools by other names, calls written as text.

Small models do all of this. Whoever reads these calls can tell what was meant, and so can this file; what it makes of
them is always valid, since llama.cpp answers 500 for ever to a history with a broken call in it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

Parameters = Mapping[str, Sequence[str]]  # the tools: name → names of its parameters, the main one first

MAX_TITLE_CHARS = 300
MAX_LEVELS = 50  # of lists and objects in each other: what can be read at the recursion limit cannot be written again
# What models call a tool that looks something up, and its one argument.
LOOKUP_NAME = re.compile(
    r"read|article|wiki|search|look_?up|find|fetch|open|page|get_(?:info|content|summary)|query", re.I
)
LOOKUP_ARGUMENTS = frozenset(
    "query q search term topic subject page page_title article article_title name keyword input text url".split()
)
NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name", "action")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input", "params")


def repair_name(name: str, arguments: Mapping[str, Any], tools: Parameters) -> str:
    """The tool that is meant: `name` itself where that is none of the tools and cannot be one of them.

    >>> repair_name("search_wikipedia", {"query": "Rat"}, {"read_article": ["title"]})
    'read_article'
    >>> repair_name("get_weather", {"city": "Oslo"}, {"read_article": ["title"]})
    'get_weather'
    """
    if name in tools:
        return name
    plain = {re.sub(r"[\W_]", "", tool).lower(): tool for tool in tools}
    bare = re.sub(r"[\W_]", "", name.rpartition(".")[2]).lower()
    if bare in plain:
        return plain[bare]
    for tool, parameters in tools.items():
        if parameters and set(arguments) & set(parameters[:1]):
            return tool  # {"name": "Mars", "arguments": {"title": "Mars"}}
    if LOOKUP_NAME.search(name) and (not arguments or set(map(str.lower, arguments)) & LOOKUP_ARGUMENTS):
        return next(iter(tools), name)
    return name


def repair_arguments(written: str, parameters: Sequence[str]) -> dict[str, Any] | None:
    """The arguments that were meant; None where there is nothing to go by.

    >>> repair_arguments('{"titel": "Rat"}', ["title"])
    {'title': 'Rat'}
    >>> repair_arguments('{"title": "Brown r', ["title"])
    {'title': 'Brown r'}
    """
    value = _value(written)
    for _ in range(3):  # encoded twice, in a list, or the whole call once more
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict) and not set(parameters) & set(value):
            inner = next((value[key] for key in ARGUMENT_KEYS if isinstance(value.get(key), dict | str)), None)
            inner = _value(inner) if isinstance(inner, str) else inner
            if not isinstance(inner, dict):
                break
            value = inner
        elif isinstance(value, str):
            decoded = _value(value)
            if decoded == value:
                break
            value = decoded
    if is_too_deep(value):
        return None
    if isinstance(value, dict):
        return _from_object(value, parameters)
    if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip() and parameters:
        return {parameters[0]: str(value).strip()[:MAX_TITLE_CHARS]}
    return None


def is_too_deep(value: Any) -> bool:
    """Whether lists and objects are nested more than MAX_LEVELS deep."""
    layer = [value]
    for _ in range(MAX_LEVELS + 1):
        nested = [each.values() if isinstance(each, dict) else each for each in layer if isinstance(each, dict | list)]
        layer = [inner for each in nested for inner in each]
        if not nested:
            return False
    return True


def _from_object(value: dict[str, Any], parameters: Sequence[str]) -> dict[str, Any] | None:
    known = {name: value[name] for name in parameters if name in value}
    if known:
        return {name: _plain(each) for name, each in known.items()}
    texts = [each for each in value.values() if isinstance(each, str) and each.strip()]
    if len(texts) == 1 and parameters:
        return {parameters[0]: texts[0].strip()[:MAX_TITLE_CHARS]}
    return value if not parameters else None


def _plain(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value.strip() if isinstance(value, str) else value


def _value(written: str) -> Any:
    """What a text holds that should be JSON: a value; of what was cut off or written loosely, its first string."""
    text = written.strip()
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]  # something follows it
    except (ValueError, RecursionError):
        pass
    if not text.startswith(("{", "[", '"', "'")):
        return text
    try:
        return json.loads(json.dumps(ast.literal_eval(text)))  # {'title': 'Rat'}; no sets or bytes
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pass
    pair = re.search(r"""["']?(\w+)["']?\s*[:=]\s*(?:"((?:[^"\\]|\\.)*)|'([^']*)|([^"'{}\[\],]+))""", text)
    if pair:
        found = next(group for group in pair.groups()[1:] if group is not None).strip()
        return {pair[1]: found} if found else None
    return text.strip("\"'{}[] ") or None


# Calls written as text

CALL_START = re.compile(rf"\{{\s*[\"'](?:{'|'.join(NAME_KEYS)})[\"']\s*:")
CUT_CALL = re.compile(
    rf"\{{\s*[\"']\w+[\"']\s*:\s*[\"']([\w.-]+)[\"']\s*,\s*[\"'](?:{'|'.join(ARGUMENT_KEYS)})[\"']\s*:\s*"
    r"(?!\{\s*[\"']type[\"']\s*:\s*[\"']object)(\S.*)",
    re.S,
)
FENCE = r"```[a-z_]*\s*"
OPENINGS = (
    rf"{FENCE}[\[{{<]",
    r"<\|?/?(?:tools?|tool_calls?|function|functions)\b",
    r"\[TOOL_CALLS?\]",
    r"[\[{]\s*[\[{]?\s*[\"'](?:" + "|".join((*NAME_KEYS, *ARGUMENT_KEYS, "type")) + r")[\"']\s*:",
)


def opening(tools: Parameters) -> re.Pattern[str]:
    """Where a call written as text may begin."""
    names = "|".join(map(re.escape, tools)) or r"(?!)"
    return re.compile("|".join((*OPENINGS, rf"(?<!\w)(?:{names})\s*(?:\(|\w*\s*[:=]?\s*[\"'“])")))


def find_calls(text: str, tools: Parameters) -> list[tuple[str, dict[str, Any]]]:
    """The calls (name, arguments) that a model wrote as text, each once, in order; calls of unknown tools too.

    >>> find_calls('read_article title "Rat"', {"read_article": ["title"]})
    [('read_article', {'title': 'Rat'})]
    """
    found: list[tuple[str, dict[str, Any]]] = []
    for name, written in [*_as_json(text), *_as_markup(text), *_as_function(text, tools)]:
        guess = repair_arguments(written, ())
        name = repair_name(name, guess if isinstance(guess, dict) else {}, tools)
        arguments = repair_arguments(written, tools[name]) if name in tools else guess
        if arguments and isinstance(arguments, dict) and (name, arguments) not in found:
            found.append((name, arguments))
    return found


def _as_json(text: str) -> list[tuple[str, str]]:
    """{"name": …, "arguments": …}, whole or cut off, wherever it stands; not a tool's definition, said again."""
    calls = []
    for start in CALL_START.finditer(text):
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(text, start.start())
        except (ValueError, RecursionError):
            if cut := CUT_CALL.match(text, start.start()):
                calls.append((cut[1], cut[2]))
            continue
        name = next((value[key] for key in NAME_KEYS if isinstance(value.get(key), str)), None)
        arguments = next((value[key] for key in ARGUMENT_KEYS if key in value), None)
        if is_too_deep(arguments):
            continue
        if name and arguments is not None and not (isinstance(arguments, dict) and "properties" in arguments):
            calls.append((name, arguments if isinstance(arguments, str) else json.dumps(arguments)))
    return calls


def _as_markup(text: str) -> list[tuple[str, str]]:
    """<function=name>{…}</function>, <function=name><parameter=title>…, [TOOL_CALLS]name{…}, name<arg_key>…."""
    calls = []
    for match in re.finditer(r"<tool_call>\s*([\w.-]+)\s*((?:<arg_key>.*?</arg_value>\s*)+)", text, re.S):
        pairs = re.findall(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", match[2], re.S)
        calls.append((match[1], json.dumps({key.strip(): value.strip() for key, value in pairs})))
    for match in re.finditer(r"<function=[\"']?([\w.-]+)[\"']?>(.*?)(?:</function>|\Z)", text, re.S):
        inner = re.search(r"<parameter=[\"']?(\w+)[\"']?>(.*?)(?:</parameter>|\Z)", match[2], re.S)
        calls.append((match[1], json.dumps({inner[1]: inner[2].strip()}) if inner else match[2]))
    calls += re.findall(r"\[TOOL_CALLS?\]\s*([\w.-]+)\s*(?:\[ARGS\])?\s*(\{.*)", text, re.S)
    return calls


def _as_function(text: str, tools: Parameters) -> list[tuple[str, str]]:
    """read_article("X"), read_article(title="X"), read_article title "X"."""
    calls = []
    for name in tools:
        head = rf"(?<![\w\"'/=<]){re.escape(name)}\s*(?:\(\s*)?(?:\w+\s*[=:]?\s*)?"
        for match in re.finditer(head + r"""(?:"([^"\n]+)|'([^'\n]+)|“([^”\n]+)|(\{.*))""", text):
            written = next(group for group in match.groups() if group is not None)
            calls.append((name, written if match[4] else json.dumps(written)))
    return calls


class HeldText:
    """Holds back what may be a call while a reply streams, so that nobody is shown one as an answer.

    >>> held = HeldText({"read_article": ["title"]})
    >>> held.feed("Let me see. read_art"), held.feed('icle("Rat")'), held.rest
    ('Let me see. ', '', 'read_article("Rat")')
    """

    MAX_CHARS = 4000  # longer than any call

    def __init__(self, tools: Parameters):
        self.rest = ""  # what is held back
        self._opening = opening(tools)
        self._tail = re.compile("(?:[`<\\[{]|" + "|".join(_prefixes(tools)) + r")[\s\S]{0,32}\Z")
        self._found = False

    def feed(self, text: str) -> str:
        """The next piece of the reply → what can be shown by now."""
        self.rest += text
        if not self._found and (found := self._opening.search(self.rest)):
            self._found = True
            return self._show(found.start())
        if self._found:
            return self._show(0 if len(self.rest) <= self.MAX_CHARS else len(self.rest))
        tail = self._tail.search(self.rest, max(0, len(self.rest) - 48))
        return self._show(tail.start() if tail else len(self.rest))

    def _show(self, end: int) -> str:
        shown, self.rest = self.rest[:end], self.rest[end:]
        return shown


def _prefixes(tools: Parameters) -> list[str]:
    """Patterns of what a tool's name may look like half written, at the end of a text."""
    return [r"(?<!\w)" + re.escape(tool) for tool in tools] + [
        r"(?<!\w)" + re.escape(tool[:length]) + r"\Z" for tool in tools for length in range(1, len(tool))
    ]
