"""How the sample encyclopedia is built: once, by any number of processes, anew when a source changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from libzim.reader import Archive

from ratsearch_lib import sample
from ratsearch_lib.errors import ArchiveError


def test_a_second_call_builds_nothing():
    path = sample.archive_path()
    before = path.stat()
    calls = []
    assert sample.archive_path(lambda *progress: calls.append(progress)) == path
    assert path.stat() == before
    assert calls == []


CALL = "from ratsearch_lib.sample import archive_path; print(archive_path(lambda *p: print(*p)))"


def start(cache: Path, cwd: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", CALL],
        cwd=cwd,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_may_build_at_once(tmp_path):
    root = Path(sample.__file__).parent.parent.parent
    children = [start(tmp_path, root) for _ in range(2)]
    outputs = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0, 0], outputs
    # nothing is printed but the path and the progress: 29 + 3 pages, a stub, the main page, 3 files, 40 redirects = 77
    for out, err in outputs:
        *progress, path = out.splitlines()
        assert progress in ([], [f"{done} 77" for done in range(1, 78)])
        assert err == ""
    assert outputs[0][0].splitlines()[-1] == path
    assert Archive(Path(path)).check()
    assert [file.name for file in Path(path).parent.iterdir()] == [Path(path).name]


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A copy of what the sample needs, free to edit."""
    package = Path(sample.__file__).parent.parent
    copy = tmp_path / "checkout" / package.name
    shutil.copytree(package / "sample", copy / "sample", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "errors.py", "cache.py"):
        shutil.copy(package / name, copy / name)
    return copy.parent


def test_an_edited_source_gives_another_archive(tmp_path, checkout):
    page = checkout / "ratsearch_lib/sample/pages/denali.html"
    page.write_text(page.read_text("utf-8").replace("<b>Denali</b> is", "<b>Denali</b> (edited) is"), "utf-8")
    child = start(tmp_path / "cache", checkout)
    path = Path(child.communicate(timeout=120)[0].splitlines()[-1])
    assert path.name != sample.archive_path().name
    assert b"(edited) is" in bytes(Archive(path).get_entry_by_path("Denali").get_item().content)


def test_a_source_that_cannot_be_used_is_an_archive_error(tmp_path, checkout):
    (checkout / "ratsearch_lib/sample/pages/denali.html").write_text("<p>no title</p>", "utf-8")
    child = start(tmp_path / "cache", checkout)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 1
    assert "ArchiveError: The sample encyclopedia could not be built: a page of the sample must begin" in err
    assert list((tmp_path / "cache/ratsearch/sample").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_an_archive_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ArchiveError, match="could not be built"):
        sample.archive_path()
