"""From what somebody types to the article that it means."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ratsearch_lib.archive import Archive
from ratsearch_lib.errors import TitleIndexError
from ratsearch_lib.titles import TitleIndex, normalise

PAIRS = [
    ("American bison", None),
    ("Bison bison", "American bison"),
    ("List of largest mammals", None),
    ("Largest mammals", "List of largest mammals"),
    ("Jacques Chirac", None),
    ("Jacques Chirac (disambiguation)", None),
    ("Super Bowl XXVI", None),
    ("1992 Super Bowl", "Super Bowl XXVI"),
    ("C", None),
    ("C++", None),
    ("C Sharp", None),
    ("C#", "C Sharp"),
    ("The Who", None),
    ("It", None),
    ("The The", None),
    *(
        (f"The {name}", None)
        for name in ("Beatles Anthology", "Kinks", "Doors", "Band", "Byrds", "Cure", "Fall", "Jam")
    ),
    ("World Health Organization", None),
    ("WHO", "World Health Organization"),
    ("HBO", None),
    ("Houseboat", None),
    ("!!!", None),
    ("∞", "Infinity"),
    ("Infinity", None),
    ("Spider-Man", None),
    ("World War II", None),
    ("World War I", None),
    ("United States", None),
    ("J. R. R. Tolkien", None),
    ("Philip Glass", None),
    ("Glass", None),
    ("Tunisia national football team", None),
    ("Tunisia", None),
    ("M*A*S*H", None),
    ("中华人民共和国", None),
    ("กรุงเทพมหานคร", None),
    ("Война и мир", None),
    ("القاهرة", None),
    ("מדינת ישראל", None),
    ("महात्मा गांधी", None),
    ("Björk", None),
    ("Mercury (planet)", None),
    ("Mercury (element)", None),
    # redirects to redirects, in circles, to nowhere
    ("Bisons", "Bison bison"),
    ("Hither", "Thither"),
    ("Thither", "Hither"),
    ("Dangling", "Nowhere at all"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with TitleIndex.build(PAIRS, path=tmp_path_factory.mktemp("titles")) as built:
        yield built


@pytest.fixture(scope="module")
def archive(data):
    return Archive(data / "zim" / "wikipedia_en_100_mini_2022-10.zim")


@pytest.fixture(scope="module")
def archive_index(archive, tmp_path_factory):
    with TitleIndex.build(archive, path=tmp_path_factory.mktemp("archive")) as built:
        yield built


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("american_bison", "American bison"),
        ("bison american", "American bison"),
        ("Amercian bisson", "American bison"),
        ("the American bison (animal)", "American bison"),
        ("largest mammal", "List of largest mammals"),
        ("Jaques Chirac", "Jacques Chirac"),
        ("Super Bowl 26", "Super Bowl XXVI"),
        ("Super Bowl 1992", "Super Bowl XXVI"),
        ("C++", "C++"),
        ("c#", "C Sharp"),
        ("C", "C"),
        ("the who", "The Who"),
        ("It", "It"),
        ("the the", "The The"),
        ("WHO", "World Health Organization"),
        ("!!!", "!!!"),
        ("∞", "Infinity"),
        ("spiderman", "Spider-Man"),
        ("ww2", "World War II"),
        ("World War 1", "World War I"),
        ("second world war", "World War II"),
        ("U.S.A.", "United States"),
        ("JRR Tolkein", "J. R. R. Tolkien"),
        ("Phillip Glass", "Philip Glass"),
        ("Tunisian national football team", "Tunisia national football team"),
        ("MASH", "M*A*S*H"),
        ("中华人民", "中华人民共和国"),
        ("กรุงเทพ", "กรุงเทพมหานคร"),
        ("война мир", "Война и мир"),
        ("القاهره", "القاهرة"),
        ("ישראל", "מדינת ישראל"),
        ("गांधी", "महात्मा गांधी"),
        ("bjork", "Björk"),
        ("planet Mercury", "Mercury (planet)"),
        ("Who was Jacques Chirac?", "Jacques Chirac"),
    ],
)
def test_the_best_match(index, query, title):
    assert index.search(query)[0].title == title


def test_a_redirect_stands_for_its_target(index):
    match = index.search("bison bison")[0]
    assert (match.title, match.path, match.matched) == ("American bison", "American bison", "Bison bison")
    titles = [each.title for each in index.search("bison")]
    assert titles.count("American bison") == 1
    assert "Bison bison" not in titles


def test_redirects_in_chains_circles_and_to_nowhere(index):
    assert index.exact("Bisons").title == "American bison"
    assert index.exact("Hither").title == "Hither"
    assert index.exact("Dangling").title == "Dangling"


def test_exact_prefers_the_title_as_it_is_written(index):
    assert index.exact("C").title == "C"
    assert index.exact("c").title == "C"
    assert index.exact("C+") is None
    assert index.exact("c++").title == "C++"
    assert index.exact("jacques_chirac").matched == "Jacques Chirac"
    assert index.exact("Jacques") is None
    assert index.exact("") is None


def test_an_acronym_is_among_what_is_found_by_its_words(index):
    assert "HBO" in [match.title for match in index.search("Home Box Office")]


@pytest.mark.parametrize("query", ["", " ", "\0", "\ud800", "(", '"', "zxqwv", "?" * 2000])
def test_nothing_found_is_an_empty_list(index, query):
    assert index.search(query) == []


@pytest.mark.parametrize(
    "query", ['"American bison', "American AND OR NOT", "title:bison", "bison^2", "bison~2", "[bison TO z]"]
)
def test_nothing_typed_is_an_operator(index, query):
    assert index.search(query)[0].title == "American bison"


def test_a_page_instead_of_a_title(index):
    assert index.search("American bison " * 10_000)[0].title == "American bison"
    assert index.exact("American bison " * 10_000) is None
    index.decide(" ".join(map(str, range(50_000))))


def test_limit(index):
    assert len(index.search("world", 1)) == 1
    assert {match.title for match in index.search("world war")} >= {"World War I", "World War II"}


@pytest.mark.parametrize("query", ["Jaques Chirac", "American bisons", "spider man", "bison bison", "Super Bowl 26"])
def test_clear_matches_are_decided(index, query):
    assert index.decide(query) == (index.exact(query) or index.search(query)[0])


@pytest.mark.parametrize(
    "query",
    ["Largest mammal in North America", "Mercury", "World War", "Super Bowl 27", "bear", "Tunisian football", ""],
)
def test_others_are_not(index, query):
    assert index.decide(query) is None


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(query=st.text() | st.text(alphabet="CBAbcison#+!&'.()_ \"*:", max_size=30))
def test_any_text_gives_a_list(index, query):
    matches = index.search(query)
    assert len({match.title for match in matches}) == len(matches) <= 20
    assert all(0 <= match.score <= 1 for match in matches)
    assert [match.score for match in matches] == sorted((match.score for match in matches), reverse=True)
    assert index.search(query) == matches
    index.decide(query)


@settings(max_examples=8, deadline=None)
@given(
    titles=st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), max_size=30, unique=True
    )
)
def test_every_title_is_found_by_itself(tmp_path_factory, titles):
    with TitleIndex.build([(title, None) for title in titles], path=tmp_path_factory.mktemp("any")) as built:
        assert len(built) == len(titles)
        for title in titles:
            if normalise(title):
                assert normalise(built.exact(title).matched) == normalise(title)


def test_titles_of_an_archive(archive, archive_index):
    entries = list(archive.entries())
    assert len(archive_index) == len(entries)
    match = archive_index.search("George the Forth")[0]
    assert (match.title, match.path, match.matched) == ("George IV", "A/George_IV", "George the Fourth")
    for entry in entries[::40]:
        assert archive_index.exact(entry.title).path == archive.follow(entry).path


def test_an_archive_without_the_article_is_not_guessed_at(archive_index):
    assert archive_index.decide("Largest mammal in North America") is None
    assert archive_index.search("Largest mammal in North America")
    assert archive_index.decide("Charls Darwin").title == "Charles Darwin"


def test_pairs_need_a_path():
    with pytest.raises(TitleIndexError, match="needs a path"):
        TitleIndex.build([("A", None)])
