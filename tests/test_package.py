"""The package as a whole: its public names, and what importing it costs."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import ratsearch_lib
from ratsearch_lib import errors

from .conformance.server import ScriptedServer, say

ROOT = Path(__file__).resolve().parent.parent

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
    """A name that goes away breaks somebody's notebook."""
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


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source, environment = folder / "source", folder / "environment"
    source.mkdir()
    for name in ("pyproject.toml", "requirements.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    shutil.copytree(ROOT / "ratsearch_lib", source / "ratsearch_lib", ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    wheel = [*pip, "wheel", "--no-deps", "-w", str(folder), str(source)]
    built = subprocess.run(wheel, capture_output=True, encoding="utf-8")
    if built.returncode:  # building fetches setuptools
        pytest.skip(f"no wheel could be built: {built.stderr.strip()[-200:]}")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (file,) = folder.glob("*.whl")
    python = next(each for each in environment.glob("*/python*") if each.name in ("python", "python.exe"))
    site = subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], encoding="utf-8"
    ).strip()
    (Path(site) / "here.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    subprocess.run([*pip, "--python", str(python), "install", "--no-deps", str(file)], check=True)
    return python, file


class TestWheel:
    """The package as it is installed, without the checkout; what it requires comes from this environment."""

    def run(self, python, folder, *arguments):
        environ = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "RATSEARCH_ZIM")}
        done = subprocess.run(
            [str(each) for each in arguments], capture_output=True, encoding="utf-8", cwd=folder, env=environ
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def test_command_module_and_library(self, installed, tmp_path):
        python, _ = installed
        version = f"ratsearch {ratsearch_lib.__version__}\n"
        command = python.parent / ("ratsearch.exe" if os.name == "nt" else "ratsearch")
        assert self.run(python, tmp_path, command, "--version") == version
        assert self.run(python, tmp_path, python, "-m", "ratsearch_lib", "--version") == version
        home = self.run(python, tmp_path, python, "-c", "import ratsearch_lib; print(ratsearch_lib.__file__)")
        assert str(ROOT) not in home

    def test_answers(self, installed, tmp_path):
        """The sample encyclopedia is in it, and a question is answered by a server."""
        python, _ = installed
        assert self.run(python, tmp_path, python, "-m", "ratsearch_lib", "read", "Bison bison").startswith(
            "Article: American bison\n"
        )
        with ScriptedServer([say("The American bison.")]) as server:
            ask = ["ask", "--endpoint", server.base_url, "--mode", "tools", "What is the largest mammal?"]
            assert self.run(python, tmp_path, python, "-m", "ratsearch_lib", *ask) == "The American bison.\n"

    def test_what_is_in_it(self, installed):
        _, file = installed
        names = zipfile.ZipFile(file).namelist()
        assert "ratsearch_lib/py.typed" in names
        assert {"page.css", "page.js", "rat.svg"} <= {Path(name).name for name in names}
        assert {name.split("/")[0].split("-")[0] for name in names} == {"ratsearch_lib", "ratsearch"}

    def test_what_it_requires_is_the_list(self, installed):
        _, file = installed
        metadata = zipfile.ZipFile(file).read(f"ratsearch-{ratsearch_lib.__version__}.dist-info/METADATA").decode()
        required = {re.split(r"[<>=; ]", line.split(": ")[1])[0] for line in metadata.splitlines()
                    if line.startswith("Requires-Dist: ")}  # fmt: skip
        listed = {re.split(r"[<>=; ]", line)[0] for line in (ROOT / "requirements.txt").read_text().splitlines()}
        assert required == listed
