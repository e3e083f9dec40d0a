"""Reasoning, loops and the context window."""

from __future__ import annotations

import json

from .case import Case, written
from .server import (
    call,
    error_reply,
    finish,
    json_reply,
    llamacpp_props,
    reasoning,
    say,
    sse,
    text,
    tool_call,
    usage,
)

RAT = {"title": "Rat"}
ANSWER = say("A rodent.")
APART = "the reasoning is shown as such, not in the answer, and not sent back"


def thought(
    name: str, symptom: str, reply: object, reports: str = "", answer: str = "A rodent.", **more: object
) -> Case:
    more.setdefault("reasoning", "Hm, rats.")
    return Case(name, symptom, APART, [reply], reports, answer, check=_not_sent_back, **more)


def _not_sent_back(bodies: list[dict]) -> bool:
    return "Hm, rats." not in json.dumps(bodies)


REASONING = [
    thought("reasoning-content", "`reasoning_content`, as llama.cpp, DeepSeek and vLLM send it",
            sse(reasoning("Hm, "), reasoning("rats."), text("A rodent."), finish())),
    thought("reasoning", "`reasoning`, as Ollama and OpenRouter send it",
            sse(reasoning("Hm, rats.", "reasoning"), text("A rodent."), finish())),
    thought("think-tags", "`<think>` in the text, cut anywhere", written("<think>Hm, rats.</think>A rodent.")),
    thought("thinking-tags", "`<thinking>` in the text", written("<thinking>Hm, rats.</thinking>A rodent.")),
    thought("magistral", "`[THINK]` in the text", written("[THINK]Hm, rats.[/THINK]A rodent.")),
    thought("unopened", "only the closing tag, as the template has opened it", written("Hm, rats.</think>A rodent."),
            "ggml-org/llama.cpp#11861", reasoning=""),
    thought("closing-tag-left-over", "reasoning in its field, and the closing tag in the text",
            sse(reasoning("Hm, rats."), text("</think>\n\n"), text("A rodent."), finish())),
    Case("never-closed", "`<think>` that is never closed", "reasoning; the answer is asked for once",
         [written("<think>Hm, rats."), ANSWER], "QwenLM/Qwen3#1459", "A rodent.", reasoning="Hm, rats.", requests=2,
         check=_not_sent_back),
    Case("reasoning-alone", "a reply of reasoning alone", "the answer is asked for once",
         [sse(reasoning("Hm, rats."), finish()), ANSWER], "vllm-project/vllm#19839", "A rodent.", requests=2,
         check=_not_sent_back),
    Case("call-while-thinking", "a call in the middle of the reasoning, and nothing after it", "is run",
         [sse(reasoning("Hm, rats. <tool_call>" + json.dumps({"name": "read_article", "arguments": RAT})), finish()),
          ANSWER], "lmstudio-ai/lmstudio-bug-tracker#2045", "A rodent.", ["Rat"]),
    thought("call-thought-about", "reasoning that only speaks of calls",
            sse(reasoning("Hm, rats. Some models write <function=x>."), text("A rodent."), finish()),
            "lmstudio-ai/lmstudio-bug-tracker#1592", reasoning="Hm, rats. Some models write <function=x>.", read=[]),
    Case("speaks-of-tags", "an answer about the `<think>` tag", "is left whole",
         [written("Models write <think> first, then `</think>`.")], "", "Models write <think> first, then `</think>`.",
         reasoning=""),
]  # fmt: skip

LOOPS = [
    Case("endless-repetition", "the same words over and over, to the end of the window",
         "the reply is stopped, and that is said",
         [sse(text("A rodent. "), *(text("Let me see. ") for _ in range(300)), finish("length"))], notices=1),
    Case("same-call-again", "the same call again", "one line says that it was read; then no tools are offered",
         [call("read_article", RAT), call("read_article", RAT), ANSWER], "HKUDS/nanobot#2298", "A rodent.",
         ["Rat", "Rat"], stop_reason="repeated", said="You have read this before",
         check=lambda bodies: ["tools" in body for body in bodies] == [True, True, False]),
    Case("calls-for-ever", "another call at each step", "a last answer is asked for without tools",
         [*(call("read_article", {"title": title}) for title in "ABC"), ANSWER], "mistralai/mistral-vibe#83",
         "A rodent.", list("ABC"), options={"max_steps": 3}, stop_reason="max_steps"),
    Case("call-after-the-last-step", "a call where none can be made any more", "is not run; what was said counts",
         [call("read_article", {"title": "A"}), sse(text("A rodent."), tool_call("read_article", RAT), finish()),
          *[say("x")] * 2], "", None, options={"max_steps": 1}, notices=1),
    Case("empty", "an empty reply", "is asked for once more", [sse(finish()), ANSWER], "ollama/ollama#10899",
         "A rodent.", requests=2),
    Case("empty-after-reading", "an empty reply after a tool's result", "is asked for once more, in the same turn",
         [call("read_article", RAT), sse(finish()), ANSWER], "openclaw/openclaw#43671", "A rodent.", requests=3),
    Case("cut-off-answer", "an answer cut off at the token limit", "is kept, and said to be cut off",
         [sse(text("A ro"), finish("length"))], "", "A ro", stop_reason="length"),
    Case("refuses-tools-ollama", "“does not support tools”", "guided mode takes over, and says so",
         [error_reply(400, "registry.ollama.ai/library/gemma:2b does not support tools"), *[ANSWER] * 2],
         "ollama/ollama#6027", mode="auto", notices=1, read=["What is a rat?"]),
    Case("refuses-tools-vllm", "“requires --enable-auto-tool-choice”", "guided mode takes over, and says so",
         [error_reply(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
          *[ANSWER] * 2], "vllm-project/vllm#9986", mode="auto", notices=1, read=["What is a rat?"]),
    Case("no-system-role", "a chat template without a system role", "the system prompt goes into the question",
         [error_reply(500, "Jinja Exception: System role not supported"), ANSWER], "", "A rodent.",
         check=lambda bodies: [m["role"] for m in bodies[1]["messages"]] == ["user"]),
    Case("roles-must-alternate", "a chat template that knows no tool messages",
         "the conversation is sent in turns of user and assistant",
         [call("read_article", RAT), error_reply(400, "Conversation roles must alternate user/assistant/user/..."),
          ANSWER], "huggingface/text-generation-inference#3198", "A rodent.", ["Rat"],
         check=lambda bodies: [m["role"] for m in bodies[2]["messages"]] == ["user", "assistant", "user"]),
]  # fmt: skip


def article(words: int) -> list[dict]:
    """A turn of long ago, in which an article was read."""
    function = {"name": "read_article", "arguments": '{"title": "Bison"}'}
    return [
        {"role": "user", "content": "What is a bison?"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "old", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "old", "content": "Article: Bison\n" + "word " * words},
        {"role": "assistant", "content": "A bovid."},
    ]


def overflow(name: str, server: str, reply: object, reports: str = "") -> Case:
    return Case(name, f"the conversation is too long for {server}, by its own words",
                "the oldest results give way, and it is asked again", [reply, ANSWER], reports, "A rodent.",
                history=article(3000), trimmed=True, requests=2, check=_shorter,
                routes={"GET /props": llamacpp_props(n_ctx=65536)})  # fmt: skip


def _shorter(bodies: list[dict]) -> bool:
    first, second = (len(json.dumps(body)) for body in bodies)
    return second < first / 3 and bodies[1]["messages"][-1] == {"role": "user", "content": "What is a rat?"}


WINDOW = [
    overflow("overflow-llamacpp", "llama.cpp", error_reply(
        400, "request (10531 tokens) exceeds the available context size (4096 tokens), try increasing it",
        type="exceed_context_size_error"), "ggml-org/llama.cpp#15780"),
    overflow("overflow-llamacpp-200", "llama.cpp, with status 200", json_reply({"error": {
        "code": 400, "message": "the request exceeds the available context size. try increasing the context size",
        "type": "exceed_context_size_error"}}), "oobabooga/textgen#7257"),
    overflow("overflow-openai", "OpenAI", error_reply(
        400, "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
        code="context_length_exceeded")),
    overflow("overflow-vllm", "vLLM", error_reply(
        400, "The decoder prompt (length 9000) is longer than the maximum model length of 4096.")),
    overflow("overflow-lmstudio", "LM Studio", error_reply(
        400, "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with "
        "context length of only 4096 tokens, which is not enough."), "lmstudio-ai/lmstudio-bug-tracker#237"),
    overflow("overflow-lmstudio-newer", "newer LM Studio", error_reply(
        400, "The number of tokens to keep from the initial prompt is greater than the context length "
        "(n_keep: 13055>= n_ctx: 4096)."), "Gitlawb/openclaude#353"),
    overflow("overflow-ollama", "Ollama", error_reply(500, "the input length exceeds the context length"),
             "ollama/ollama#17889"),
    Case("silent-truncation", "a prompt that was cut without a word", "is noticed and said",
         [sse(text("A rodent."), finish(), usage(1026, 3))], "ollama/ollama#17427", "A rodent.",
         history=article(3000), notices=1, routes={"GET /props": llamacpp_props(n_ctx=65536)}),
    Case("window-of-ollama", "Ollama's default window of 4,096 tokens, whatever the model was trained for",
         "is found, and kept to", [ANSWER], "RooCodeInc/Roo-Code#1372", "A rodent.", history=article(3000),
         trimmed=True, check=lambda bodies: len(json.dumps(bodies)) < 4 * 4096,
         routes={"GET /api/ps": json_reply({"models": []}), "POST /api/show": json_reply({"parameters": ""})}),
    Case("long-results", "articles that fill the window one after the other", "the oldest give way, one line each",
         [*(call("read_article", {"title": title}, id=title) for title in "ABCDE"), ANSWER],
         "lmstudio-ai/lmstudio-bug-tracker#1806", "A rodent.", list("ABCDE"), trimmed=True,
         check=lambda bodies: all(len(json.dumps(body)) < 4.5 * 8192 for body in bodies),
         routes={"GET /props": llamacpp_props(n_ctx=8192)}),
    Case("usage-of-the-uncached", "a server that counts only what it had not cached", "is not believed",
         [call("read_article", RAT), ANSWER], "", "A rodent.", ["Rat"], history=article(1000), notices=0,
         routes={"GET /props": llamacpp_props(n_ctx=65536)}),
]  # fmt: skip

GROUPS = {"Reasoning": REASONING, "Loops, limits, and what is not supported": LOOPS, "The context window": WINDOW}
