"""The package as a whole: its public names, and what importing it costs."""

import json
import subprocess
import sys
from pathlib import Path

import ratsearch_lib
from ratsearch_lib import errors

HEAVY = {"openai", "gradio", "xllamacpp", "ipywidgets", "tantivy", "libzim", "numpy", "selectolax", "rich", "html2text"}


def modules_after(code):
    script = f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    printed = subprocess.check_output([sys.executable, "-c", script], cwd=Path(ratsearch_lib.__file__).parent.parent)
    return set(json.loads(printed))


def test_importing_costs_nothing():
    assert not HEAVY & modules_after("import ratsearch_lib")


def test_an_agent_needs_no_archive_and_a_library_no_model():
    assert not {"libzim", "tantivy", "openai"} & modules_after("from ratsearch_lib import Agent, ChatClient")
    assert not {"openai", "httpx2", "gradio"} & modules_after("from ratsearch_lib import Library")


def test_public_names():
    """DESIGN's public interface: a name that goes away breaks somebody's notebook."""
    assert {
        "Agent", "Archive", "Article", "ChatClient", "Entry", "Library", "LocalServer", "Passage", "ReadResult",
        "TitleIndex", "TitleMatch", "ToolContext",
        "Generated", "Notice", "Prefill", "ReasoningDelta", "RunFinished", "TextDelta", "ToolCall", "ToolResult",
        "ArchiveError", "ChatError", "ContextOverflow", "EntryNotFound", "RatsearchError", "ServerUnreachable",
    } <= set(ratsearch_lib.__all__)  # fmt: skip
    for name in ratsearch_lib.__all__:
        assert getattr(ratsearch_lib, name).__doc__


def test_every_error_is_in_the_tree():
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    assert len(kinds) > 10
    assert all(issubclass(each, errors.RatsearchError) for each in kinds)
    assert str(errors.EntryNotFound("no such title")) == "no such title"
