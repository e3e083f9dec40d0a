"""Library: what the model sees for a title, on real archives and on one made for the purpose."""

import pytest

from ratsearch_lib.errors import ArchiveError
from ratsearch_lib.library import Library
from ratsearch_lib.sample import archive_path
from ratsearch_lib.tools import ToolContext
from ratsearch_lib.xapian import search_text, suggest

from .zims import make_archive


@pytest.fixture(scope="module")
def sample():
    with Library.open(archive_path(), build="wait") as library:
        yield library


@pytest.fixture(scope="module")
def mini(data, tmp_path_factory):
    """A hundred real articles with 3,885 redirects."""
    path = tmp_path_factory.mktemp("zim") / "mini.zim"
    path.symlink_to(data / "zim" / "wikipedia_en_100_mini_2022-10.zim")
    with Library.open(path, build="wait") as library:
        yield library


def test_a_hit_starts_with_its_title(sample):
    assert sample.read_article("American bison").startswith("Article: American bison\n")


@pytest.mark.parametrize("title", ["american_bison", "Bison bison", '"American bison"', " American  bison "])
def test_titles_as_models_write_them(sample, title):
    assert sample.read_article(title).startswith("Article: American bison\n")


def test_a_miss_lists_the_nearest_titles(sample):
    first, *titles = sample.read_article("Largest mammal in North America").splitlines()
    assert first == "Article not found. Related articles:"
    assert "List of largest mammals" in titles
    assert len(titles) <= 20
    assert not [title for title in titles if "_" in title]


def test_a_clear_misspelling_is_read_and_said(sample):
    assert sample.read_article("Amercan bison").startswith('Article: American bison (for "Amercan bison")\n')


def test_a_disambiguation_page_returns_its_choices(sample):
    first, *rest = sample.read_article("Buffalo").splitlines()
    assert first == '"Buffalo" may refer to:'
    assert "American bison" in "\n".join(rest)


def test_a_long_article_is_cut_and_says_so(sample):
    title = "List of mammals of North America"
    assert len(sample.article(sample.archive.entry(title)).text()) > 65_535
    text = sample.read_article(title)
    assert 60_000 < len(text) <= 65_535
    assert "read_article(" in text.splitlines()[-1]


def test_a_section(sample):
    text = sample.read_article("American bison#Near extinction")
    assert text.splitlines()[0] == "Article: American bison#Near extinction"
    assert "largest land mammal" not in text
    assert sample.read_article("Bison hunting").splitlines()[0] == "Article: American bison#Near extinction"
    whole = sample.read_article("American bison#Nothing of the kind")
    assert whole.splitlines()[0] == 'Article: American bison (it has no section "Nothing of the kind")'
    assert "largest land mammal" in whole


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Titles that hold what is elsewhere markup."""
    names = ["C", "Mouse", "'Salem's Lot", "Truckin'", '"Heroes" (album)', "Heroes", "notes.html"]
    pages = [("Index", "Index", "<p>" + " ".join(names) + " answer every question about letters and cheese</p>")]
    pages += [(name.replace(" ", "_"), name, f"<p>This is about {name} and cheese.</p>") for name in names]
    path = tmp_path_factory.mktemp("zim") / "odd.zim"
    make_archive(path, pages, main="Index")
    return path


@pytest.mark.parametrize("build", ["wait", "never"])
def test_titles_that_hold_markup(odd, build):
    with Library.open(odd, build=build) as library:
        for title in ("'Salem's Lot", "Truckin'", '"Heroes" (album)', '"Mouse"', "“Mouse”"):
            assert library.read(title).title == title.strip('"“”') or library.read(title).title == title
        assert library.read("C#").title is None  # and not C
        assert library.read("Mouse").text == "Article: Mouse\n\nThis is about Mouse and cheese."


def test_the_main_page_answers_nothing(odd):
    with Library.open(odd, build="wait") as library:
        result = library.read("Cheese", ToolContext("Is Mouse about cheese?", choose=True))
    assert result.title == "Mouse"


HOSTILE = ["", "   ", '""', "#", "\x00", "qqqqq zzzzz", "x" * 5000, "<script>", "\ud800", "AND OR NOT +("]


@pytest.mark.parametrize("title", HOSTILE)
def test_any_title_gets_an_answer_that_teaches(sample, title):
    result = sample.read(title)
    assert result.title is None
    assert result.text.startswith(("Give the title", "Article not found."))


def test_what_was_read_is_left_in_the_context(mini):
    context = ToolContext("When was George IV born?")
    result = mini.read("George IV", context)
    assert context.sources == [result]
    assert (result.title, result.source) == ("George IV", "mini.zim/A/George_IV")
    assert "12 August 1762" in result.quotes[0].text
    assert any("12 August 1762" in passage.text for passage in result.passages)


def test_nothing_read_leaves_nothing(mini):
    context = ToolContext("?")
    mini.read("Xyzzy plugh", context)
    assert context.sources == []


def test_a_budget_is_kept(mini):
    whole = mini.read_article("George IV")
    short = mini.read_article("George IV", context=ToolContext("When was George IV born?", max_tokens=300))
    assert len(short) < len(whole)
    assert len(short) < 300 * 5
    assert "12 August 1762" in short


def test_redirects_reach_their_article(mini):
    assert mini.read_article("Linaeus").startswith("Article: Carl Linnaeus")


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What's the largest mammal in North America?", "American bison"),
        ("What is the largest land mammal of North America?", "American bison"),
    ],
)
@pytest.mark.parametrize("guess", ["Bear", "", "North America", "Xyzzy"])
def test_choosing_goes_by_the_question_where_the_title_is_vague(sample, question, title, guess):
    context = ToolContext(question, choose=True)
    result = sample.read(guess, context)
    assert result.title == title
    assert "largest" in result.quotes[0].text


def test_choosing_a_named_article_needs_no_note(mini):
    result = mini.read("George IV", ToolContext("When was George IV born?", choose=True))
    assert result.text.startswith("Article: George IV\n")


def test_choosing_says_when_nothing_answers(sample):
    result = sample.read("Quidditch", ToolContext("Who won the Quidditch cup at Hogwarts?", choose=True))
    assert result.title is None
    assert result.text.startswith("Article not found.")


@pytest.mark.parametrize(
    ("question", "before", "query"),
    [
        ("And when did he die?", ["Who was George IV?"], "Who was George IV? And when did he die?"),
        ("How tall is Denali?", ["Who was George IV?"], "How tall is Denali?"),
        ("Are there any wolves in Yellowstone?", ["Who was George IV?"], "Are there any wolves in Yellowstone?"),
        ("Which one is taller?", ["Who was George IV?"], "Which one is taller?"),
        ("When did he die?", [], "When did he die?"),
        ("Where was she born?", ["Who is Ada?", "And her father?"], "Who is Ada? And her father? Where was she born?"),
        ("And his?", ["Zero?", "And one?", "And two?", "And three?"], "And one? And two? And three? And his?"),
    ],
)
def test_a_follow_up_is_looked_up_with_the_questions_it_leans_on(question, before, query):
    assert ToolContext(question, tuple(before)).query == query


def test_without_an_index_libzims_suggestions_answer(data, tmp_path):
    path = tmp_path / "mini.zim"
    path.symlink_to(data / "zim" / "wikipedia_en_100_mini_2022-10.zim")
    with Library.open(path, build="never") as library:
        assert library.titles is None
        titles = [match.title for match in library.search_titles("the king George IV of England")]
        assert "George IV" in titles
        assert library.read_article("king George number IV").startswith("Article not found. Related articles:\n")
    assert [each.name for each in tmp_path.iterdir()] == ["mini.zim"]


def test_the_index_is_built_once_beside_the_archive(data, tmp_path):
    path = tmp_path / "mini.zim"
    path.symlink_to(data / "zim" / "wikipedia_en_100_mini_2022-10.zim")
    seen = []
    Library.open(path, build="wait", progress=lambda done, total: seen.append((done, total))).close()
    assert seen[-1][0] == seen[-1][1]
    seen.clear()
    with Library.open(path, build="never") as library:
        assert library.titles is not None
    assert not seen
    assert (tmp_path / "mini.zim.ratsearch").is_dir()


@pytest.mark.parametrize(
    "name",
    [
        "wikipedia_cr_all_2015-04.zim",
        "wikipedia_en_ray_charles_2015-06.zim",
        "wikipedia_en_ray_charles_maxi_2023-09.zim",
        "gozim_test.zim",
        "tonedear.com_en_2024-09.zim",
        "libkiwix_poor.zim",
        "libkiwix_example.zim",
        "foo-zstd.zim",
        "kiwix_android_testzim.zim",
        "invalid/withns-small.zim",
        "invalid/nons-invalid.outofbounds_first_clusterptr.zim",
    ],
)
def test_every_kind_of_archive_can_be_asked(data, tmp_path, name):
    path = tmp_path / "x.zim"
    path.symlink_to(data / "zim" / name)
    damaged = "invalid." in name
    with Library.open(path, build="wait") as library:
        for entry in list(library.archive.entries())[:40]:
            try:
                text = library.read_article(entry.title)
            except ArchiveError:
                assert damaged
                continue
            assert text.startswith(("Article: ", f'"{entry.title}" may refer to:', "Article not found."))
            assert library.search_titles(entry.title)


def test_a_missing_archive(tmp_path):
    with pytest.raises(ArchiveError, match="no file"):
        Library.open(tmp_path / "none.zim")


def test_full_text_search_gives_up_words_before_it_gives_up(mini, data):
    paths = [entry.title for entry in search_text(mini.archive, "king who reigned as regent before 1820 zzyzzy")]
    assert "George IV" in paths
    assert search_text(mini.archive, "") == []
    assert search_text(mini.archive, "the of and") == []
    assert isinstance(search_text(mini.archive, 'title:(" AND NOT +-*~ NEAR/3'), list)


def test_suggestions_drop_words(mini):
    assert "George IV" in suggest(mini.archive, "George IV zzyzzy")
    assert suggest(mini.archive, "") == []
