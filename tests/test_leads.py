"""Related articles from first paragraphs: finding, fusing with titles, building."""

import io
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratsearch_lib.archive import Archive
from ratsearch_lib.article import Article
from ratsearch_lib.cache import cache_folder
from ratsearch_lib.cli.index import index as index_command
from ratsearch_lib.cli.options import Options
from ratsearch_lib.cli.screen import Screen
from ratsearch_lib.errors import ArchiveError, TitleIndexError
from ratsearch_lib.leads import LeadIndex, LeadMatch, fuse
from ratsearch_lib.leads.write import first_paragraph
from ratsearch_lib.sample import archive_path
from ratsearch_lib.titles import TitleIndex, TitleMatch

ROOT = Path(__file__).resolve().parent.parent

LEADS = [
    ("Brown rat", "The brown rat is a common rodent that lives in sewers and cellars."),
    ("Blue whale", "The blue whale is the largest animal known ever to have existed."),
    ("The Who", "The Who are a rock band formed in London in 1964."),
    ("東京", "東京は日本の首都である。"),
    ("Łódź", "Łódź is a city in Poland, once known for its textile mills."),
    ("Empty", ""),
]

# Writes half of an index, says so, and waits to be killed.
HALF = """
import sys
from ratsearch_lib.leads import LeadIndex
def leads():
    yield from ((f"Title {i}", "A paragraph.") for i in range(3000))
    print("half", flush=True)
    sys.stdin.read()
LeadIndex.build(leads(), path=sys.argv[1])
"""


@pytest.fixture(scope="module")
def leads(tmp_path_factory):
    with LeadIndex.build(LEADS, path=tmp_path_factory.mktemp("leads")) as index:
        yield index


@pytest.fixture
def archive(data, tmp_path):
    path = tmp_path / "wikipedia_en_ray_charles_maxi_2023-09.zim"
    shutil.copyfile(data / "zim" / path.name, path)
    return Archive(path)


# Finding


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("What is the largest animal?", "Blue whale"),
        ("rodents in the sewer", "Brown rat"),
        ("the who", "The Who"),
        ("band from London", "The Who"),
        ("日本の首都", "東京"),
        ("textile city lodz", "Łódź"),
        ("EMPTY", "Empty"),
        ('rodent AND (lead:"x" OR *', "Brown rat"),
    ],
)
def test_first(leads, query, title):
    match = leads.search(query)[0]
    assert (match.title, match.path) == (title, title)


def test_nothing_found(leads):
    assert leads.search("") == leads.search("?!") == leads.search("zebra") == leads.search("rodent", 0) == []


def test_best_first_and_no_more_than_asked_for(leads):
    found = leads.search("city animal rodent london sewers")
    assert [match.score for match in found] == sorted((match.score for match in found), reverse=True)
    assert found[0].title == "Brown rat"  # two of the words; the others one each
    assert {match.title for match in found} == {"Brown rat", "Blue whale", "The Who", "Łódź"}
    assert leads.search("city animal rodent london sewers", 2) == found[:2]


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=300) | st.text('ratwho*"():^~+-\\/[]{}ANDOR \ud800\x00', max_size=40))
def test_any_text(leads, query):
    found = leads.search(query)
    assert found == leads.search(query)
    assert {match.title for match in found} <= {title for title, _ in LEADS}


def test_long_text(leads):
    assert leads.search("rodent " * 100_000)[0].title == "Brown rat"
    assert leads.search("x" * 1_000_000) == []


# Fusing


def title(name, score):
    return TitleMatch(name, name, score, name)


def text(*names):
    return [LeadMatch(name, name, 10.0 - rank) for rank, name in enumerate(names)]


def names(matches):
    return [match.title for match in matches]


def test_a_strong_title_stays_first():
    titles = [title("Jacques Chirac", 0.8), title("Jacques", 0.3)]
    assert names(fuse(titles, text("Paris", "Jacques", "France")))[0] == "Jacques Chirac"


def test_no_more_than_three_strong_titles_go_before_texts():
    titles = [title(str(number), 0.9) for number in range(1, 21)]
    # 4 would be first of the rest by titles (1/14), b is by texts (1/12), a before it (1/11)
    assert names(fuse(titles, text("a", "b")))[:6] == ["1", "2", "3", "a", "b", "4"]


def test_weak_titles_take_turns_with_texts():
    titles = [title("a", 0.3), title("b", 0.2), title("c", 0.1)]
    # 1/11 each for a and d, a from titles first; then b: 1/12 + 1/13 outweighs both
    assert names(fuse(titles, text("d", "e", "b"))) == ["b", "a", "d", "e", "c"]


def test_what_only_its_text_found_has_no_score():
    fused = fuse([title("a", 0.3)], text("a", "b"))
    assert fused == [title("a", 0.3), title("b", 0.0)]


def test_one_list_alone():
    titles = [title("a", 0.9), title("b", 0.2)]
    assert fuse(titles, []) == titles
    assert names(fuse([], text("c", "d"))) == ["c", "d"]
    assert fuse([], []) == []
    assert names(fuse(titles, text("c", "d"), 3)) == ["a", "c", "b"]


def test_entries_of_an_archive_fuse_too():
    rat = Archive(archive_path()).entry("Brown rat")
    by_title = [TitleMatch(rat.title, rat.path, 0.3, "Rattus norvegicus")]
    assert fuse(by_title, [rat]) == by_title


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 1)), max_size=8, unique_by=lambda pair: pair[0]),
    st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True),
)
def test_each_article_once_and_none_lost(scored, found):
    fused = fuse([title(*pair) for pair in scored], text(*found))
    assert sorted(names(fused)) == sorted({name for name, _ in scored} | set(found))


# Building


def test_real_archive(archive):
    titles = TitleIndex.build(archive)
    with pytest.raises(TitleIndexError, match="index --leads"):
        LeadIndex.open(archive)
    calls = []
    built = LeadIndex.build(archive, progress=lambda *call: calls.append(call))
    assert calls == sorted(calls)
    assert calls[-1] == (archive.entry_count, archive.entry_count)
    assert built.path == titles.path
    opened = LeadIndex.open(archive)
    query = "singer, songwriter and pianist called The Genius"  # so his first paragraph says
    assert opened.search(query)[0] == built.search(query)[0]
    assert opened.search(query)[0].title == "Ray Charles"
    assert archive.entry(opened.search(query)[0].path).title == "Ray Charles"
    assert TitleIndex.open(archive).exact("ray charles")


def test_the_sample():
    index = LeadIndex.build(Archive(archive_path()))
    assert index.search("rodent that lives in sewers")[0].title == "Brown rat"
    # a page that only leads to a section of another
    assert "Bison hunting" not in names(index.search("bison hunting"))


@pytest.mark.parametrize(
    "name", ["wikipedia_en_100_mini_2022-10.zim", "wikipedia_en_ray_charles_2015-06.zim", "tonedear.com_en_2024-09.zim"]
)
def test_reading_less_of_a_page_finds_the_same(data, name):
    archive = Archive(data / "zim" / name)
    entries = [entry for entry in archive.entries() if entry.redirect_path is None and entry.is_html]
    for entry in entries[:: max(1, len(entries) // 25)]:
        found = first_paragraph(entry)
        assert found is not None
        assert Article.from_html(entry.content, entry.title).lead.startswith(found)


def test_another_archive_or_version(archive, data):
    built = LeadIndex.build(archive)
    about = built.path / "leads" / "titles" / "about.json"
    whole = json.loads(about.read_text())
    for change in ({"uuid": "0" * 32}, {"entry_count": 1}, {"normaliser": 0}, {"format": 0}):
        about.write_text(json.dumps(whole | change))
        with pytest.raises(TitleIndexError):
            LeadIndex.open(archive)
    assert LeadIndex.build(archive).search("Ray Charles")
    assert {**json.loads(about.read_text()), "sizes": None} == {**whole, "sizes": None}
    shutil.copyfile(data / "zim" / "wikipedia_en_ray_charles_mini_2020-03.zim", archive.path)
    with pytest.raises(TitleIndexError):
        LeadIndex.open(Archive(archive.path))


def test_a_damaged_index(tmp_path):
    index = LeadIndex.build(LEADS, path=tmp_path)
    index.close()
    shutil.rmtree(tmp_path / "leads" / "titles" / "text")
    with pytest.raises(TitleIndexError, match="build it first"):
        LeadIndex.open(None, path=tmp_path)


def test_an_index_with_other_content_is_built_again(archive):
    folder = LeadIndex.build(archive).path / "leads" / "titles"
    for file in folder.rglob("*"):
        if file.is_file() and file.name != "about.json" and not file.name.startswith("."):
            file.write_bytes(bytes(255 - byte for byte in file.read_bytes()))
    assert LeadIndex.build(archive).search("Ray Charles")


def test_pairs_need_a_path():
    with pytest.raises(TitleIndexError, match="path"):
        LeadIndex.build(LEADS)
    with pytest.raises(TitleIndexError, match="path"):
        LeadIndex.open(None)


def test_in_the_cache_where_the_folder_cannot_be_written(archive):
    archive.path.with_name(archive.path.name + ".ratsearch").write_text("in the way")
    built = LeadIndex.build(archive)
    assert built.path.parent == cache_folder("titles")
    assert LeadIndex.open(archive).path == built.path
    shutil.rmtree(built.path)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_while_building(tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", HALF, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout.readline() == b"half\n"
        child.send_signal(signal.SIGKILL)
    with pytest.raises(TitleIndexError):
        LeadIndex.open(None, path=tmp_path)
    with LeadIndex.build(LEADS, path=tmp_path) as index:
        assert index.search("sewers")[0].title == "Brown rat"
    assert {path.name for path in (tmp_path / "leads").iterdir()} == {"titles", "lock"}


def test_an_error_while_building_leaves_the_old_index(tmp_path):
    LeadIndex.build(LEADS, path=tmp_path).close()

    def broken():
        yield "Hydrogen", "A gas."
        raise ArchiveError("damaged")

    with pytest.raises(ArchiveError):
        LeadIndex.build(broken(), path=tmp_path)
    with LeadIndex.open(None, path=tmp_path) as index:
        assert index.search("sewers")[0].title == "Brown rat"
    assert {path.name for path in (tmp_path / "leads").iterdir()} == {"titles", "lock"}


# The command


def test_index_command(archive):
    stream, reports = io.StringIO(), []
    options = Options(zim=archive.path)
    assert index_command(options, Screen(stream, {}), reports.append, leads=True) == 0
    titles, leads = stream.getvalue().splitlines()
    place = f"{archive.path}.ratsearch"
    assert f"titles: {place}/titles (" in titles.replace("\\", "/")
    assert leads.startswith(f"{archive.article_count} first paragraphs")
    assert titles.endswith(" kB)")
    assert [report.split(" (")[0] for report in reports] == [
        f"Indexing the titles of {archive.path.name}",
        f"Indexing the first paragraphs of {archive.path.name}",
    ]
    reports.clear()
    assert index_command(options, Screen(stream, {}), reports.append, leads=True) == 0
    assert reports == []  # both were there


def test_index_command_stopped(archive):
    reports = []

    def report(line):
        reports.append(line)
        if line.startswith("Indexing the first paragraphs"):
            raise KeyboardInterrupt  # as if Ctrl-C were pressed while it is written

    with pytest.raises(KeyboardInterrupt):
        index_command(Options(zim=archive.path), Screen(io.StringIO(), {}), report, leads=True)
    assert reports[-1].startswith("Stopped")
    assert TitleIndex.open(archive).exact("Ray Charles")
    with pytest.raises(TitleIndexError):
        LeadIndex.open(archive)
    assert [path.name for path in Path(f"{archive.path}.ratsearch", "leads").iterdir()] == ["lock"]
