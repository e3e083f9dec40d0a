# Solutions to 05_tool_calls

import json
import sys

sys.path.insert(0, "..")

from support import check, open_library

from ratsearch_lib.agent.toolbox import schema

library = open_library()


# 1. The docstring's first line is the description, the parameter's name the schema.
def count_words(title: str) -> str:
    """the number of words in a wikipedia article"""
    return f"{title} has {len(library.read_article(title).split())} words."


assert check(
    count_words,
    lambda f: str(len(library.read_article("Moose").split())) in f("Moose") and schema(f)["function"]["description"],
)


# 2. Three things that a model gets wrong, and a sentence for each that says what is right.
def run_safely(call, tools):
    function = call["function"]
    if function["name"] not in tools:
        return f"There is no tool {function['name']}. There is: {', '.join(tools)}."
    try:
        arguments = json.loads(function["arguments"])
        return tools[function["name"]](**arguments)
    except (ValueError, TypeError):
        return f'Call {function["name"]} with {{"title": …}}.'


tools = {"read_article": library.read_article}
bad = [("nothing", "{}"), ("read_article", "{'title'"), ("read_article", '{"name": "Rat"}'), ("read_article", "3")]
bad = [{"id": "x", "function": {"name": name, "arguments": text}} for name, text in bad]
good = {"id": "a", "function": {"name": "read_article", "arguments": '{"title": "Moose"}'}}
assert check(run_safely, lambda f: all(isinstance(f(call, tools), str) for call in [*bad, good]))
