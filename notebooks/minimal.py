"""The whole of ratsearch in one file, after the shell script that it began as: to read in a minute, and to change.

    python minimal.py wikipedia.zim [http://localhost:8080/v1]

Needs libzim, html2text, rapidfuzz and openai. The model is given one tool that takes a title. If the article exists, it
gets the article; if not, the nearest titles, and tries again. OPENAI_API_KEY is sent, where it is set.
"""

import json
import os
import sys

import html2text
from libzim.reader import Archive
from openai import OpenAI
from rapidfuzz import fuzz, process, utils

SYSTEM = (
    "You are a helpful assistant. You have one skill: reading Wikipedia articles, for when you are directly asked for "
    "factual information. The read_article tool takes the title of an article."
)
PARAMETERS = {
    "type": "object",
    "properties": {"title": {"type": "string", "description": "article title"}},
    "required": ["title"],
}
READ_ARTICLE = {"name": "read_article", "description": "read a wikipedia article", "parameters": PARAMETERS}
TOOLS = [{"type": "function", "function": READ_ARTICLE}]
MAX_CHARS = 65_535


def all_titles(archive):
    """Every title of the archive. (For a whole Wikipedia this takes a minute or two: the library builds an index.)"""
    entries = (archive._get_entry_by_id(number) for number in range(archive.entry_count))
    return [entry.title for entry in entries if entry.is_redirect or entry.get_item().mimetype.startswith("text/html")]


def read_article(archive, titles, title):
    """The article's text, or the 20 nearest titles."""
    title = title.replace("_", " ").strip()
    try:
        entry = archive.get_entry_by_title(title)
    except KeyError:
        found = process.extract(title, titles, scorer=fuzz.WRatio, processor=utils.default_process, limit=20)
        return "\n".join(["Article not found. Related articles:", *(name for name, _, _ in found)])
    while entry.is_redirect:
        entry = entry.get_redirect_entry()
    converter = html2text.HTML2Text(bodywidth=0)
    converter.ignore_links = converter.ignore_images = True
    text = converter.handle(bytes(entry.get_item().content).decode("utf-8", "replace"))
    return f"Article: {entry.title}\n\n{text}"[:MAX_CHARS]


def result(archive, titles, function):
    """What the model gets for one call. Its own mistakes become a sentence that it can learn from."""
    try:
        return read_article(archive, titles, str(json.loads(function.arguments)["title"]))
    except (ValueError, KeyError, TypeError):
        return 'Call read_article with {"title": …}.'


def answer(client, model, archive, titles, messages, max_steps=10):
    """Asks, runs what the model calls, and asks again, until it answers. `messages` grows by all of it."""
    for step in range(max_steps):
        tools = TOOLS if step < max_steps - 1 else []  # at last it must answer
        options = {"tools": tools} if tools else {}
        reply = client.chat.completions.create(model=model, messages=messages, **options).choices[0].message
        message = {"role": "assistant", "content": reply.content or ""}
        if reply.tool_calls:
            message["tool_calls"] = [call.model_dump() for call in reply.tool_calls]
        messages.append(message)
        for call in reply.tool_calls or ():
            print(f"[tool call]: {call.function.name} | {call.function.arguments}", file=sys.stderr)
            text = result(archive, titles, call.function)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        if not reply.tool_calls:
            break
    return messages[-1]["content"]


def main(path, base_url="http://localhost:8080/v1"):
    archive = Archive(path)
    titles = all_titles(archive)
    client = OpenAI(base_url=base_url, api_key=os.environ.get("OPENAI_API_KEY", "none"))
    model = client.models.list().data[0].id
    print(f"ratsearch <-3,,~~\n{path}\n{model}\n----------------------")
    messages = [{"role": "system", "content": SYSTEM}]
    for line in iter(lambda: input("\n  <><><> USER <><><>\n"), ""):
        messages.append({"role": "user", "content": line})
        print(f"\n  ===== AGENT =====\n{answer(client, model, archive, titles, messages)}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:3])
