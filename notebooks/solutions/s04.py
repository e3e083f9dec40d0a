# Solutions to 04_api_json

import json
import sys

sys.path.insert(0, "..")

from support import check

messages = [
    {"role": "system", "content": "You answer in one short sentence."},
    {"role": "user", "content": "What is a rat?"},
    {"role": "assistant", "content": "A rodent."},
    {"role": "user", "content": "What does it eat?"},
]


# 1. The history up to that question: a slice.
def ask_again(messages, n):
    asked = [number for number, message in enumerate(messages) if message["role"] == "user"]
    return messages[: asked[n] + 1]


assert check(ask_again, lambda f: f(messages, 0) == messages[:2] and f(messages, 1) == messages)


# 2. `or` makes the best of what is missing or null.
def read_stream(wire):
    text = reasoning = ""
    for line in wire.splitlines():
        if line.startswith("data: ") and line != "data: [DONE]":
            for choice in json.loads(line.removeprefix("data: "))["choices"]:
                text += choice["delta"].get("content") or ""
                reasoning += choice["delta"].get("reasoning_content") or ""
    return text, reasoning


example = 'data: {"choices": [{"delta": {"reasoning_content": "Hm"}}]}\n\ndata: {"choices": []}\n\n'
example += 'data: {"choices": [{"delta": {"content": "A"}}]}\n\ndata: {"choices": [{"delta": {}}]}\n\ndata: [DONE]\n\n'
assert check(read_stream, lambda f: f(example) == ("A", "Hm"))
