"""Building title indexes: interrupted, twice at once, where nothing can be written, in a process of its own."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ratsearch_lib.archive import Archive
from ratsearch_lib.cache import cache_folder
from ratsearch_lib.errors import ArchiveError, TitleIndexError
from ratsearch_lib.titles import TitleIndex
from ratsearch_lib.titles.background import BackgroundBuild
from ratsearch_lib.titles.folder import About, building

ROOT = Path(__file__).resolve().parent.parent

# Writes half of an index, says so, and waits to be killed.
HALF = """
import sys
from ratsearch_lib.titles import TitleIndex
def titles():
    yield from ((f"Title {i}", None) for i in range(3000))
    print("half", flush=True)
    sys.stdin.read()
TitleIndex.build(titles(), path=sys.argv[1])
"""


@pytest.fixture
def archive(data, tmp_path):
    path = tmp_path / "wikipedia_en_ray_charles_maxi_2023-09.zim"
    shutil.copyfile(data / "zim" / path.name, path)
    return Archive(path)


def test_beside_the_archive(archive):
    with pytest.raises(TitleIndexError, match="build it first"):
        TitleIndex.open(archive)
    built = TitleIndex.build(archive)
    assert built.path == archive.path.with_name(archive.path.name + ".ratsearch")
    opened = TitleIndex.open(archive)
    assert opened.search("ray charls") == built.search("ray charls")
    assert opened.search("ray charls")[0].title == "Ray Charles"


def test_progress(archive, tmp_path):
    calls = []
    TitleIndex.build(archive, path=tmp_path / "index", progress=lambda *call: calls.append(call))
    assert calls == sorted(calls)
    assert calls[-1] == (archive.entry_count, archive.entry_count)
    calls.clear()
    pairs = (pair for pair in [("A", None), ("B", "A")])
    TitleIndex.build(pairs, path=tmp_path / "pairs", progress=lambda *call: calls.append(call))
    assert calls[-1] == (2, 2)


def test_in_the_cache_where_the_folder_cannot_be_written(archive):
    archive.path.with_name(archive.path.name + ".ratsearch").write_text("in the way")
    built = TitleIndex.build(archive)
    assert built.path.parent == cache_folder("titles")
    assert archive.uuid in built.path.name
    assert TitleIndex.open(archive).path == built.path
    shutil.rmtree(built.path)


def test_nowhere_to_write(archive, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TitleIndexError, match="cannot be written"):
        TitleIndex.build(archive, path=tmp_path / "file" / "index")


def test_an_index_of_another_archive_or_version_is_not_opened(archive, data):
    built = TitleIndex.build(archive)
    about = built.path / "titles" / "about.json"
    for change in ({"uuid": "0" * 32}, {"entry_count": 1}, {"normaliser": 0}, {"format": 0}):
        whole = json.loads(about.read_text())
        about.write_text(json.dumps(whole | change))
        with pytest.raises(TitleIndexError):
            TitleIndex.open(archive)
        assert TitleIndex.build(archive).search("Ray Charles")
        rebuilt = json.loads(about.read_text())
        assert {**rebuilt, "sizes": None} == {**whole, "sizes": None}
    shutil.copyfile(data / "zim" / "wikipedia_en_ray_charles_mini_2020-03.zim", archive.path)
    with pytest.raises(TitleIndexError):
        TitleIndex.open(Archive(archive.path))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"uuid": 1, "more": 2}'])
def test_a_spoilt_index_is_built_again(archive, content):
    about = TitleIndex.build(archive).path / "titles" / "about.json"
    about.write_text(content)
    with pytest.raises(TitleIndexError):
        TitleIndex.open(archive)
    assert TitleIndex.build(archive).search("Ray Charles")


@pytest.mark.parametrize("damage", ["gone", "empty", "short", "other"])
def test_a_damaged_index_is_built_again(archive, damage):
    folder = TitleIndex.build(archive).path / "titles"
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "about.json"):
        if not file.exists() or file.name.startswith("."):
            continue
        content = file.read_bytes()
        if damage == "gone":
            file.unlink()
        elif damage == "other":
            file.write_bytes(bytes(255 - byte for byte in content))
        else:
            file.write_bytes(b"" if damage == "empty" else content[: len(content) // 2])
    if damage != "other":
        with pytest.raises(TitleIndexError, match="fits"):
            TitleIndex.open(archive)
    assert TitleIndex.build(archive).search("Ray Charles")[0].title == "Ray Charles"


def test_one_that_is_there_is_not_built_again(archive):
    about = TitleIndex.build(archive).path / "titles" / "about.json"
    made = about.stat().st_mtime_ns
    TitleIndex.build(archive)
    assert about.stat().st_mtime_ns == made


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_while_building(tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", HALF, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout.readline() == b"half\n"
        child.send_signal(signal.SIGKILL)
    assert (tmp_path / "titles.building").exists()
    with pytest.raises(TitleIndexError):
        TitleIndex.open(None, path=tmp_path)
    with TitleIndex.build([("Oxygen", None)], path=tmp_path) as index:
        assert [match.title for match in index.search("oxygen")] == ["Oxygen"]
    assert not (tmp_path / "titles.building").exists()


def test_an_error_while_building_leaves_the_old_index(tmp_path):
    TitleIndex.build([("Oxygen", None)], path=tmp_path).close()

    def broken():
        yield "Hydrogen", None
        raise ArchiveError("damaged")

    with pytest.raises(ArchiveError):
        TitleIndex.build(broken(), path=tmp_path)
    with TitleIndex.open(None, path=tmp_path) as index:
        assert index.exact("oxygen")
    assert {path.name for path in tmp_path.iterdir()} == {"titles", "lock"}


def test_two_processes_at_once(archive):
    with BackgroundBuild(archive.path) as one, BackgroundBuild(archive.path) as other:
        assert (one.wait(60), other.wait(60)) == ("done", "done")
    assert TitleIndex.open(archive).search("Ray Charls")[0].title == "Ray Charles"


def test_background_build(archive):
    with BackgroundBuild(archive.path) as build:
        assert build.wait(60) == "done"
    assert build.error is None
    assert build.progress == (archive.entry_count, archive.entry_count)
    assert build.remaining_s == 0
    assert TitleIndex.open(archive).exact("ray charles").title == "Ray Charles"


def test_a_background_build_ends_when_it_is_stopped(archive):
    place = archive.path.with_name(archive.path.name + ".ratsearch")
    with building(place, About.of(archive)):  # the child waits for this lock
        build = BackgroundBuild(archive.path)
        assert build.poll() is None
        build.stop()
        assert build.poll() == "failed"


def test_a_background_build_that_fails_says_why(tmp_path):
    path = tmp_path / "broken.zim"
    path.write_bytes(b"no archive")
    with BackgroundBuild(path) as build:
        assert build.wait(60) == "failed"
    assert str(path) in build.error


def test_every_archive(data, tmp_path):
    paths = [
        *(data / "zim").glob("*.zim"),
        *(data / "zim").rglob("*.zimaa"),
        *(data / "zim" / "invalid").rglob("*ad*.zim"),
    ]
    for path in sorted(paths):
        try:
            archive = Archive(path)
        except ArchiveError:
            continue
        with TitleIndex.build(archive, path=tmp_path / path.name) as index:
            for entry in list(archive.entries())[::200]:
                assert index.exact(entry.title) or not entry.title.strip()
        shutil.rmtree(tmp_path / path.name)
