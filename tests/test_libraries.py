"""Several archives read as one: real archives, made for the test, that share some titles."""

import pytest

from ratsearch_lib.cli.opening import open_library
from ratsearch_lib.cli.options import Options
from ratsearch_lib.cli.paths import choose_archives
from ratsearch_lib.documents import DocumentStore
from ratsearch_lib.errors import ArchiveError
from ratsearch_lib.libraries import Libraries, labels
from ratsearch_lib.library import Library
from ratsearch_lib.tools import ToolContext

from .zims import make_archive


def page(title, text):
    return title.replace(" ", "_"), title, f"<h1>{title}</h1><p>{text}</p><h2>More</h2><p>There is more in {title}.</p>"


ENCYCLOPEDIA = [
    page("Cheese", "Cheese is made of milk, which curdles."),
    page("Brown rat", "The brown rat lives in sewers and cellars of every continent but Antarctica."),
    page("Mercury", "Mercury is the planet nearest to the Sun."),
]
COOKBOOK = [
    page("Cheese", "For a fondue, grate the cheese and melt it in white wine with garlic."),
    page("Ratatouille", "Ratatouille is a stew of aubergines, courgettes and tomatoes."),
    page("Käsespätzle", "Käsespätzle werden mit Bergkäse und gerösteten Zwiebeln gemacht."),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zims")
    return [
        make_archive(folder / "encyclopedia_2026-01.zim", ENCYCLOPEDIA, main="Cheese").path,
        make_archive(folder / "cookbook_2026-01.zim", COOKBOOK, main="Cheese").path,
    ]


@pytest.fixture(scope="module")
def both(files):
    with Libraries([Library.open(file, build="wait") for file in files]) as libraries:
        yield libraries


def first_line(text):
    return text.partition("\n")[0]


ENC, COOK = "encyclopedia 2026-01", "cookbook 2026-01"  # after their files: they have no titles of their own
COOK_FILE, ENC_FILE = "cookbook_2026-01.zim", "encyclopedia_2026-01.zim"


class TestReading:
    def test_in_the_one_that_has_it(self, both):
        assert first_line(both.read_article("Brown rat")) == f"Article: Brown rat [{ENC}]"
        assert first_line(both.read_article("Ratatouille")) == f"Article: Ratatouille [{COOK}]"
        assert "Bergkäse" in both.read_article("käsespätzle")

    def test_in_the_first_of_those_that_have_it(self, both):
        text = both.read_article("Cheese")
        assert first_line(text) == f'Article: Cheese [{ENC}; there is also "Cheese ({COOK})"]'
        assert "curdles" in text

    @pytest.mark.parametrize("title", [f"Cheese ({COOK})", f"cheese ({COOK.upper()})", f"Cheese ({COOK_FILE})"])
    def test_picked(self, both, title):
        context = ToolContext()
        result = both.read(title, context)
        assert "fondue" in result.text
        assert result.source == f"{COOK_FILE}/Cheese"
        assert context.sources == [result]

    def test_section_of_a_picked_one(self, both):
        assert first_line(both.read_article(f"Cheese ({COOK})#More")) == f"Article: Cheese#More [{COOK}]"

    def test_misspelt_in_either(self, both):
        assert first_line(both.read_article("Ratatouile")) == f'Article: Ratatouille (for "Ratatouile") [{COOK}]'
        assert first_line(both.read_article("Brwon rat")) == f'Article: Brown rat (for "Brwon rat") [{ENC}]'

    def test_nearest_titles_of_both(self, both):
        lines = both.read_article("rat stew with cheese fondue").splitlines()
        assert lines[0] == "Article not found. Related articles:"
        assert {"Brown rat", "Ratatouille", f"Cheese ({ENC})", f"Cheese ({COOK})"} >= set(lines[1:])
        assert {f"Cheese ({ENC})", f"Cheese ({COOK})"} <= set(lines[1:])

    def test_every_listed_title_can_be_read(self, both):
        for title in both.read_article("rat stew with cheese fondue").splitlines()[1:]:
            assert both.read_article(title).startswith("Article: ")

    @pytest.mark.parametrize(
        "title", ["", "()", "(x)", "Cheese (no such archive)", "#", "a" * 5000, "\0", "Cheese ()#"]
    )
    def test_anything_is_answered(self, both, title):
        assert both.read_article(title)

    def test_chosen_for_a_question(self, both):
        """For a model that cannot choose: the article of either archive that answers."""
        for title, question, source in (
            ("Cheese", "Which wine and garlic for a fondue?", f"{COOK_FILE}/Cheese"),
            ("Mercury", "Which planet is nearest to the Sun?", f"{ENC_FILE}/Mercury"),
        ):
            context = ToolContext(question, max_tokens=500, choose=True)
            assert both.read(title, context).source == source
            assert [each.source for each in context.sources] == [source]

    def test_entry_of_a_source(self, both):
        assert both.entry_of(f"{COOK_FILE}/Cheese").archive.path.name == COOK_FILE

    def test_documents_beside_them(self, files, tmp_path):
        (tmp_path / "plan.md").write_text("Where the cheese is: behind the third brick.", "utf-8")
        store = DocumentStore(tmp_path / "store.db")
        store.index(tmp_path / "plan.md")
        with Libraries([Library.open(file, build="wait") for file in files]) as both:
            both.add_documents(store)
            assert [tool.__name__ for tool in both.tools] == ["read_article", "search_documents"]
            assert "third brick" in both.read_article("plan.md")
            assert first_line(both.read_article("plan")).startswith("Document: plan.md")
            assert first_line(both.read_article("Ratatouille")) == f"Article: Ratatouille [{COOK}]"


class TestOpening:
    def test_one_that_fails_is_reported(self, files, tmp_path):
        broken = tmp_path / "broken.zim"
        broken.write_bytes(b"no archive")
        said = []
        options = Options(zim=broken, more_zims=tuple(files), zim_errors=("--zim: there is no file x.zim.",))
        with open_library(options, said.append) as library:
            assert [archive.path for archive in library.archives] == files
        assert said[0] == "--zim: there is no file x.zim. The other archives are read."
        assert "broken.zim cannot be opened as a ZIM archive" in said[1]

    def test_all_fail(self, tmp_path):
        broken = [tmp_path / "a.zim", tmp_path / "b.zim"]
        for each in broken:
            each.write_bytes(b"no archive")
        with pytest.raises(ArchiveError, match=r"b\.zim cannot be opened"):
            open_library(Options(zim=broken[0], more_zims=(broken[1],)), print)

    def test_chosen(self, files, tmp_path):
        given = [str(file) for file in files]
        assert choose_archives(given, None, tmp_path) == (files, "given with --zim", [])
        assert choose_archives([*given, given[0]], None, tmp_path)[0] == files
        found, _, errors = choose_archives([given[0], str(tmp_path / "x.zim")], None, tmp_path)
        assert found == files[:1]
        assert errors == [f"--zim: there is no file {tmp_path / 'x.zim'}."]
        with pytest.raises(ArchiveError, match=r"there is no file .*x\.zim"):
            choose_archives([str(tmp_path / "x.zim"), str(tmp_path / "y.zim")], None, tmp_path)

    def test_of_the_environment(self, files, tmp_path):
        import os

        named = os.pathsep.join(map(str, files))
        assert choose_archives(None, named, tmp_path) == (files, "named by RATSEARCH_ZIM", [])

    def test_same_name_twice(self, files):
        library = Library.open(files[0], build="wait")
        with library, pytest.raises(ArchiveError, match=r"Two archives are called encyclopedia_2026-01\.zim: rename"):
            Libraries([library, library])

    def test_labels_are_never_shared(self, files, data, tmp_path):
        real = sorted((data / "zim").glob("*.zim"))
        from ratsearch_lib.archive import Archive

        archives = []
        for path in real:
            try:
                archives.append(Archive(path))
            except ArchiveError:
                continue
        found = labels(archives)
        assert len({each.casefold() for each in found}) == len(archives) > 5
        assert not any(set(each) & set("()[]#") for each in found)
