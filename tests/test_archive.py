"""Archive: every generation of ZIM file opens, lists and reads; every damaged one says so."""

import os
from contextlib import suppress

import pytest

from ratsearch_lib.archive import Archive
from ratsearch_lib.errors import ArchiveError, EntryNotFound
from ratsearch_lib.spelling import spellings

from .zims import make_archive

# Counted with zimdump or in the archives' own Counter metadata: articles, and titles with their redirects.
LISTINGS = {
    "wikipedia_en_100_mini_2022-10.zim": (101, 3986),
    "wikipedia_cr_all_2015-04.zim": (236, None),
    "wikipedia_en_ray_charles_2015-06.zim": (85, None),
    "split/wikipedia_en_ray_charles_2015-06.zimaa": (85, None),
    "wikipedia_en_ray_charles_mini_2020-03.zim": (129, None),
    "wikipedia_en_ray_charles_maxi_2023-09.zim": (139, None),
    "gozim_test.zim": (177, None),
    "tonedear.com_en_2024-09.zim": (12, 12),
    "foo-zstd.zim": (16, 16),
    "libkiwix_poor.zim": (8, 8),
    "invalid/nons-small.zim": (1, 1),
    "invalid/withns-small.zim": (1, 1),
}


def stub(target):
    return f"""<html><head><meta http-equiv="refresh" content="0;URL='{target}'" /></head><body></body></html>"""


@pytest.fixture(scope="module")
def titles(tmp_path_factory):
    """An archive of titles that are easy to get wrong."""
    names = ["AT&T", "Thelma & Louise", "C++", "AS/400", "1%CLUB", "C Sharp", "Çatalhöyük", "東京", "100%", "Oxygen"]
    pages = [(name.replace(" ", "_"), name, f"<p>{name.replace('&', '&amp;')}</p>") for name in names]
    pages += [
        ("Ozone_layer", "Ozone layer", stub("./Oxygen#Ozone_layer")),
        ("Deep/Stub", "Deep stub", stub("../Oxygen#%C3%96l")),
        ("Stub_A", "Stub A", stub("./Stub_B")),
        ("Stub_B", "Stub B", stub("./Stub_A")),
        ("Stub_out", "Stub out", stub("https://example.org/")),
        ("Stub_gone", "Stub gone", stub("./Nowhere")),
        ("C#", "C#", "<p>C sharp, the language</p>"),
        ("Alzheimer's_disease", "Alzheimer's disease", "<p>A disease.</p>"),
        ("Senile", "Senile", stub("./Alzheimer's_disease#Parkinson's,_too")),
        ("Senility", "Senility", stub("./Alzheimer&#39;s_disease")),
        ('"Heroes"_(album)', '"Heroes" (album)', "<p>An album.</p>"),
        ("Heroes", "Heroes", stub("./%22Heroes%22_(album)")),
    ]
    redirects = [("O2", "O2", "Oxygen"), ("Ozonosphere", "Ozonosphere", "Ozone_layer"), ("Dioxygen", "Dioxygen", "O2")]
    return make_archive(tmp_path_factory.mktemp("zim") / "titles.zim", pages, redirects)


@pytest.mark.parametrize("name", LISTINGS)
def test_lists_and_reads(data, name):
    archive = Archive(data / "zim" / name)
    entries = list(archive.entries())
    articles, listed = LISTINGS[name]
    assert sum(entry.redirect_path is None for entry in entries) == articles
    assert listed is None or len(entries) == listed
    assert not [entry for entry in entries if entry.mimetype.startswith(("image/", "text/css"))]
    for entry in entries[:200]:
        assert archive.resolve(entry).content or entry.path == "empty.html"
    assert archive.checksum_ok()


def test_reads_what_the_archive_says_of_itself(data):
    archive = Archive(data / "zim" / "wikipedia_en_100_mini_2022-10.zim")
    assert (archive.name, archive.language, archive.article_count) == ("Wikipedia 100", "eng", 101)
    assert archive.metadata["Date"] == "2022-10-28"
    assert archive.uuid == "fb118225922b35baf33b2e225265095e"
    assert archive.has_fulltext_index


def test_a_split_archive_is_opened_by_its_plain_name_too(data):
    archive = Archive(data / "zim" / "split" / "wikipedia_en_ray_charles_2015-06.zim")
    assert b"Ray Charles" in archive.entry("Ray Charles").content


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("A/George_IV", "George IV"),
        ("George_IV", "George IV"),
        ("George IV", "George IV"),
        ("george IV", "George IV"),
        ("  George   IV ", "George IV"),
        ("Linaeus", "Carl Linnaeus"),  # a redirect, misspelt as it is
        ("'murica", "United States"),
    ],
)
def test_finds_by_path_title_and_redirect(data, asked, title):
    assert Archive(data / "zim" / "wikipedia_en_100_mini_2022-10.zim").entry(asked).title == title


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("AT%26T", "AT&T"),
        ("aT&amp;T", "AT&T"),
        ("Thelma &amp; Louise", "Thelma & Louise"),
        ("Thelma_%26_Louise", "Thelma & Louise"),
        ("C++", "C++"),
        ("c%2B%2B", "C++"),
        ("AS/400", "AS/400"),
        ("AS%2F400", "AS/400"),
        ("1%CLUB", "1%CLUB"),
        ("100%", "100%"),
        ("C#", "C#"),
        ("%C3%87atalh%C3%B6y%C3%BCk", "Çatalhöyük"),
        ("çatalhöyük", "Çatalhöyük"),
        ("東京", "東京"),
        ("Dioxygen", "Oxygen"),
    ],
)
def test_finds_titles_however_they_are_written(titles, asked, title):
    assert titles.entry(asked).title == title


@pytest.mark.parametrize(
    ("asked", "section"),
    [
        ("Ozone layer", "Ozone layer"),  # a refresh stub, as mwoffliner writes redirects to a section
        ("Ozonosphere", "Ozone layer"),  # a redirect to the stub
        ("Deep stub", "Öl"),
        ("Oxygen#History", "History"),
        ("O2#Later_years", "Later years"),
        ("Oxygen", ""),
    ],
)
def test_follows_to_a_section(titles, asked, section):
    entry = titles.entry(asked)
    assert (entry.title, entry.section) == ("Oxygen", section)


@pytest.mark.parametrize(
    ("asked", "title", "section"),
    [
        ("Senile", "Alzheimer's disease", "Parkinson's, too"),
        ("Senility", "Alzheimer's disease", ""),
        ("Heroes", '"Heroes" (album)', ""),
    ],
)
def test_stubs_to_titles_with_quotation_marks(titles, asked, title, section):
    entry = titles.entry(asked)
    assert (entry.title, entry.section) == (title, section)


def test_a_stub_that_leads_outside_is_a_page(titles):
    assert titles.entry("Stub out").path == "Stub_out"


@pytest.mark.parametrize("asked", ["Stub A", "Stub gone"])
def test_redirects_that_lead_nowhere_say_so(titles, asked):
    with pytest.raises(ArchiveError, match="leads"):
        titles.entry(asked)


@pytest.mark.parametrize("asked", ["redirect_loop.html", "redirect_loop2.html", "redirect_loop3.html"])
def test_a_redirect_loop_is_an_error(data, asked):
    with pytest.raises(ArchiveError, match="leads back to itself"):
        Archive(data / "zim" / "libkiwix_poor.zim").entry(asked)


def test_titles_of_an_archive_that_lists_none(data):
    assert Archive(data / "zim" / "libkiwix_poor.zim").entry("Test ZIM file - Article 1").path == "article1.html"


@pytest.mark.parametrize("asked", ["Xyzzy", "", "   ", "#", "#History", "%", "\x00", "../../etc/passwd", "\ud800"])
def test_what_is_not_there_is_not_found(titles, asked):
    with pytest.raises(EntryNotFound) as error:
        titles.entry(asked)
    assert isinstance(error.value, KeyError)
    assert "has no entry" in str(error.value)


def read_all(path):
    archive = Archive(path)
    content = [archive.resolve(entry).content for entry in archive.entries()]
    for name in ("main.html", "Test ZIM file", "nothing", "favicon.png"):
        with suppress(EntryNotFound):
            content.append(archive.entry(name).content)
    return content, archive.metadata, archive.article_count, archive.checksum_ok()


def test_damaged_archives_read_what_can_be_read_or_say_so(data):
    files = sorted(path for path in (data / "zim" / "invalid").iterdir() if path.suffix != ".zimab")
    assert len(files) > 60
    complaints = []
    for path in files:
        try:
            read_all(path)
        except ArchiveError as error:
            complaints.append((path.name, str(error)))
    assert len(complaints) >= 35  # as many of them have a broken header, pointer list or first cluster
    assert all(name in complaint for name, complaint in complaints)


def test_the_truncated_archive_is_refused(data):
    with pytest.raises(ArchiveError, match="incomplete"):
        Archive(data / "zim" / "wikipedia_cr_all_2015-04.corrupt.zim")


@pytest.mark.parametrize("content", [b"", b"ZIM", b"<html>not an archive</html>" * 100])
def test_what_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / "x.zim"
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match=r"x\.zim"):
        Archive(path)


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(ArchiveError, match="no file"):
        Archive(tmp_path / "gone.zim")
    with pytest.raises(ArchiveError, match="folder"):
        Archive(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.zim")
        with pytest.raises(ArchiveError, match="no file"):
            Archive(tmp_path / "pipe.zim")
    with pytest.raises(ArchiveError):
        Archive(tmp_path / ("x" * 300))
    with pytest.raises(ArchiveError):
        Archive(tmp_path / "\udcff.zim")


def test_spellings_keep_what_was_written_first():
    assert next(spellings("C#")) == ("C#", "")
    assert list(spellings("Oxygen#History"))[-1] == ("oxygen", "History")
