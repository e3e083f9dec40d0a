"""Tool calls, as they arrive."""

from __future__ import annotations

import json

from .case import Case, written
from .server import call, delta, error_event, finish, json_reply, say, sse, text, tool_call

RAT = {"title": "Rat"}
AS_JSON = '{"name": "read_article", "arguments": {"title": "Rat"}}'
ANSWER = say("A rodent.")
MENDED = "is read as what was meant, and goes back as valid JSON"


def piece(index: int | None = 0, **fields: object) -> dict:
    """One piece of a call, its fields as given: `id`, `name`, `arguments`."""
    whole = {"function": {name: fields[name] for name in ("name", "arguments") if name in fields}}
    whole.update({"id": fields["id"]} if "id" in fields else {})
    whole.update({} if index is None else {"index": index})
    return delta(tool_calls=[whole])


def mended(name: str, symptom: str, arguments: object, reports: str = "", tool: str = "read_article") -> Case:
    reply = call(tool, arguments)
    return Case(name, symptom, MENDED, [reply, ANSWER], reports, "A rodent.", ["Rat"], check=_sent_back)


def _sent_back(bodies: list[dict]) -> bool:
    (message,) = [each for each in bodies[1]["messages"] if each.get("tool_calls")]
    return json.loads(message["tool_calls"][0]["function"]["arguments"]) == RAT


def as_text(name: str, form: str, reply: str, reports: str = "", beside: str = "") -> Case:
    symptom, answer = f"a call as text: {form}", beside + "A rodent."
    return Case(name, symptom, "is run, and not shown", [written(reply), ANSWER], reports, answer, ["Rat"])


def several(name: str, symptom: str, *pieces: object, reports: str = "", read: tuple = ("Rat", "Bison")) -> Case:
    replies = [sse(*pieces, finish("tool_calls")), ANSWER]
    return Case(name, symptom, "are told apart", replies, reports, "A rodent.", read)


def taught(name: str, symptom: str, expected: str, tool: str, arguments: object, said: str, reports: str = "") -> Case:
    return Case(name, symptom, expected, [call(tool, arguments), ANSWER], reports, "A rodent.", said=said)


BROKEN = [
    mended("cut-off", "arguments cut off in the middle", '{"title": "Rat', "ggml-org/llama.cpp#22072"),
    mended("no-closing-brace", "arguments without the closing brace", '{"title": "Rat"'),
    mended("brace-too-many", "arguments with a brace too many", '{"title": "Rat"}}'),
    mended("double-encoded", "arguments encoded twice", json.dumps(json.dumps(RAT)), "vllm-project/vllm#54964"),
    Case("object-not-string", "arguments as an object instead of a string", MENDED,
         [sse(piece(id="a", name="read_article", arguments=RAT), finish("tool_calls")), ANSWER],
         "ollama/ollama#12413", "A rodent.", ["Rat"], check=_sent_back),
    mended("bare-string", "arguments that are only the title", '"Rat"'),
    mended("not-even-quoted", "the title without quotes", "Rat"),
    mended("python-quotes", "arguments in single quotes", "{'title': 'Rat'}", "ggml-org/llama.cpp#21771"),
    mended("wrong-argument-name", "another argument's name", {"query": "Rat"}),
    mended("list-of-one", "the title in a list", {"title": ["Rat"]}),
    mended("call-within-call", "the whole call in its own arguments", AS_JSON),
    mended("extra-argument", "arguments that the tool does not have", {"title": "Rat", "language": "en"}),
    mended("invented-name", "a tool that does not exist, and is plainly this one", {"query": "Rat"},
           "run-llama/llama_index#7170", tool="search_wikipedia"),
    mended("name-with-prefix", "the tool's name with a prefix", RAT, "run-llama/llama_index#12483",
           tool="functions.read_article"),
    taught("empty-arguments", "no arguments at all", "the model is told how to call", "read_article", "",
           'Call read_article with {"title": …}'),
    taught("opening-brace-only", "arguments that are “{”", "the model is told how to call", "read_article", "{",
           'Call read_article with {"title": …}', "ggml-org/llama.cpp#22948"),
    taught("other-tool", "a tool that does not exist", "the model is told what exists", "get_weather",
           {"city": "Oslo"}, 'There is no tool "get_weather". There is: read_article.', "simonw/llm#1104"),
    Case("refused-by-its-own-server", "the server ends a whole call with error 500, as it cannot read it",
         "the call counts", [sse(tool_call("read_article", RAT), error_event(
             "The model produced output that does not match the expected peg-native format", code=500), done=False),
             ANSWER], answer="A rodent.", read=["Rat"]),
    Case("unreadable", "the server answers 500, as it cannot read what its model wrote", "asked once more",
         [json_reply({"error": {"code": 500, "message": "Failed to parse input at pos 0: <|channel|>"}}, status=500),
          ANSWER], "ggml-org/llama.cpp#22072", "A rodent.", requests=2),
]  # fmt: skip

TEXT = [
    as_text("bare-json", "bare JSON", AS_JSON, "ollama/ollama#10899"),
    as_text("fenced-json", "JSON in a code fence, among prose", f"Let me look.\n```json\n{AS_JSON}\n```",
            beside="Let me look.\n\n"),
    as_text("tool-call-tag", "`<tool_call>`", f"<tool_call>\n{AS_JSON}\n</tool_call>",
            "lmstudio-ai/lmstudio-bug-tracker#827"),
    as_text("tool-call-tag-open", "`<tool_call>` without an end", f"<tool_call>\n{AS_JSON}"),
    as_text("tools-tag", "`<tools>`", f"<tools>\n{AS_JSON}\n</tools>"),
    as_text("function-tag", "`<function=…>` with parameters",
            "<tool_call>\n<function=read_article>\n<parameter=title>\nRat\n</parameter>\n</function>\n</tool_call>",
            "lmstudio-ai/lmstudio-bug-tracker#2115"),
    as_text("mistral-list", "`[TOOL_CALLS]` and a list", f"[TOOL_CALLS][{AS_JSON}]", "ml-explore/mlx-lm#1374"),
    as_text("mistral-args", "`[TOOL_CALLS]name[ARGS]{…}`", '[TOOL_CALLS]read_article[ARGS]{"title": "Rat"}',
            "ml-explore/mlx-lm#1448"),
    as_text("minimax", "`[TOOL_CALL]`", '[TOOL_CALL] { "tool": "read_article", "args": {"title": "Rat"} } [/TOOL_CALL]',
            "lmstudio-ai/lmstudio-bug-tracker#1177"),
    as_text("liquid", "Python between LFM2's marks", '<|tool_call_start|>[read_article(title="Rat")]<|tool_call_end|>',
            "lmstudio-ai/lmstudio-bug-tracker#1979"),
    as_text("glm", "GLM's `<arg_key>` and `<arg_value>`",
            "<tool_call>read_article\n<arg_key>title</arg_key>\n<arg_value>Rat</arg_value>\n</tool_call>",
            "lmstudio-ai/lmstudio-bug-tracker#1528"),
    as_text("python", "a Python call", "read_article(title='Rat')"),
    as_text("words", "the words of a call", 'read_article title "Rat"'),
    as_text("arguments-as-string", "arguments as a string", json.dumps(
        {"name": "read_article", "arguments": json.dumps(RAT)}), "ollama/ollama#12413"),
    as_text("answer-made-up", "a call, and an answer that the model makes up",
            f"{AS_JSON}\n\nA rat is a kind of fish.", "vllm-project/vllm#5649"),
    Case("no-call-after-all", "an answer with braces, fences and brackets in it", "is shown whole, letter by letter",
         [written('See [1]: {"order": "Rodentia"} and ```x``` or <b>b</b>.')],
         "agentscope-ai/QwenPaw#4066", 'See [1]: {"order": "Rodentia"} and ```x``` or <b>b</b>.', []),
]  # fmt: skip

SEVERAL = [
    several("two-calls", "two calls in one message", tool_call("read_article", RAT, id="a"),
            tool_call("read_article", {"title": "Bison"}, id="b", index=1)),
    several("all-index-0", "every call has the index 0", tool_call("read_article", RAT, id="a"),
            tool_call("read_article", {"title": "Bison"}, id="b"), reports="ollama/ollama#15457"),
    several("no-index", "calls without an index",
            piece(None, id="a", name="read_article", arguments='{"title": "Rat"}'),
            piece(None, id="b", name="read_article", arguments='{"title": "Bison"}'), reports="ollama/ollama#7881"),
    several("neither-index-nor-id", "calls with the index 0 and no id", piece(name="read_article",
            arguments='{"title": "Rat"}'), piece(name="read_article", arguments='{"title": "Bison"}'),
            reports="NousResearch/hermes-agent#3468"),
    several("same-id", "calls that share an id", tool_call("read_article", RAT, id="x"),
            tool_call("read_article", {"title": "Bison"}, id="x", index=1)),
    several("name-in-each-piece", "the name again with each piece",
            piece(id="a", name="read_article", arguments='{"ti'),
            piece(id="a", name="read_article", arguments='tle": "Rat"}'), read=("Rat",)),
    several("a-character-a-piece", "arguments in pieces of one character",
            tool_call("read_article", RAT, pieces=100), read=("Rat",)),
    Case("text-beside-a-call", "words before a call", "are shown, and part of the answer",
         [sse(text("Let me look. "), tool_call("read_article", RAT), finish("tool_calls")), ANSWER],
         answer="Let me look.\n\nA rodent.", read=["Rat"]),
    Case("finish-reason-stop", "a call that ends with finish_reason “stop”", "is run",
         [sse(tool_call("read_article", RAT), finish("stop")), ANSWER], "BerriAI/litellm#35663", "A rodent.", ["Rat"]),
    Case("no-finish-reason", "a call in a stream that just ends", "is run",
         [sse(tool_call("read_article", RAT), done=False), ANSWER], "", "A rodent.", ["Rat"]),
    Case("not-streamed", "a whole completion instead of a stream", "is read all the same",
         [json_reply({"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [
             {"id": "a", "type": "function", "function": {"name": "read_article", "arguments": json.dumps(RAT)}}]},
             "finish_reason": "tool_calls"}]}), ANSWER], "", "A rodent.", ["Rat"]),
]  # fmt: skip

GROUPS = {"Tool calls that arrive broken": BROKEN, "Tool calls written as text": TEXT, "Calls in a stream": SEVERAL}
