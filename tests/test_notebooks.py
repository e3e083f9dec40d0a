"""Every notebook runs from top to bottom without a word on standard error, and says what it said when committed.

A cell tagged "varies" (times, plots) may say something else. The notebooks run on the sample and the recordings;
after a change of either, or of what a model is shown, record again: OPENAI_BASE_URL=… RATSEARCH_RECORD=1, and run
the notebook.
"""

import runpy
import statistics
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from benchmarks import titles
from ratsearch_lib import Library
from ratsearch_lib.sample import archive_path

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
FILES = sorted(NOTEBOOKS.glob("*.ipynb"))
SOLUTIONS = sorted((NOTEBOOKS / "solutions").glob("s*.py"))
OWN = ("RATSEARCH_ZIM", "RATSEARCH_RECORD", "OPENAI_BASE_URL", "OPENAI_API_KEY")
OF_MATPLOTLIB = "Matplotlib is building the font cache"

by_name = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


@pytest.fixture(autouse=True, scope="module")
def sample():
    """The sample with its index, so that no notebook shows a progress bar."""
    Library.open(archive_path(), build="wait").close()


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path_factory):
    """No server and no archive but the project's own."""
    for name in OWN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RATSEARCH_SAMPLE", "1")  # for judged_queries
    fonts = tmp_path_factory.getbasetemp() / "matplotlib"
    fonts.mkdir(exist_ok=True)
    monkeypatch.setenv("MPLCONFIGDIR", str(fonts))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def said(cell):
    """What a cell says in words: pictures and widgets left out."""
    parts = []
    for output in cell.outputs:
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        parts.append(text if output.output_type != "error" else output.evalue)
    return "".join(parts)


@by_name
def test_runs_and_says_what_was_committed(file):
    committed = nbformat.read(file, 4)
    fresh = nbformat.read(file, 4)
    for cell in code(fresh):
        cell.outputs = []
    resources = {"metadata": {"path": str(NOTEBOOKS)}}
    NotebookClient(fresh, timeout=120, kernel_name="python3", resources=resources).execute()
    for before, after in zip(code(committed), code(fresh), strict=True):
        errors = "".join(output.text for output in after.outputs if output.get("name") == "stderr")
        assert [line for line in errors.splitlines() if OF_MATPLOTLIB not in line] == [], after.source
        if "varies" not in after.metadata.get("tags", []):
            assert said(after) == said(before), after.source


@by_name
def test_is_written_to_be_read(file):
    notebook = nbformat.read(file, 4)
    lengths = [len(cell.source.splitlines()) for cell in code(notebook)]
    assert statistics.median(lengths) <= 5
    assert max(lengths) <= 25
    first, second = notebook.cells[:2]
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")
    assert len(first.source.split()) > 80, "it opens with what one needs to know"
    assert second.cell_type == "code"
    last = notebook.cells[-1]
    assert last.cell_type == "markdown"
    assert "**What you can do now:**" in last.source
    assert f"solutions/s{file.stem[:2]}.py" in last.source
    assert sum(cell.cell_type == "markdown" for cell in notebook.cells) >= len(lengths) / 2


@by_name
def test_is_committed_stripped(file):
    notebook = nbformat.read(file, 4)
    assert "widgets" not in notebook.metadata
    for cell in code(notebook):
        assert cell.execution_count is None
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("execution_count") is None
            assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {})
        assert said(cell) or cell.outputs == [] or "varies" in cell.metadata.get("tags", [])
    text = file.read_text(encoding="utf-8")
    assert str(Path.home()) not in text
    assert str(NOTEBOOKS.parent) not in text


def test_the_figures_of_06_are_those_of_the_benchmark(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(NOTEBOOKS), *sys.path])
    from support import judged_queries

    result = titles.run(judged_queries(tmp_path / "data"), [], beside=0)
    notebook = nbformat.read(NOTEBOOKS / "06_searching_challenges.ipynb", 4)
    shown = next(said(cell) for cell in code(notebook) if "some, read_article" in cell.source)
    rows = {row[0]: [float(each) for each in row[1:]] for row in map(str.split, shown.splitlines()[1:])}
    assert rows == {name: list(figures.values()) for name, figures in result["sets"].items()}


@pytest.mark.parametrize("file", SOLUTIONS, ids=lambda file: file.stem)
def test_solutions_are_right(file, monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", [str(NOTEBOOKS), *sys.path])
    runpy.run_path(str(file))
    assert "Not yet." not in capsys.readouterr().out
