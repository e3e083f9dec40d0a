"""The sample encyclopedia: what is in it, and that it is sound."""

import io
import re
from contextlib import redirect_stdout
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from libzim.reader import Archive
from libzim.search import Query, Searcher
from libzim.suggestion import SuggestionSearcher
from selectolax.lexbor import LexborHTMLParser

from ratsearch_lib import sample

ARTICLES = """
Ada Lovelace · African buffalo · American bison · Black rat · Blue whale · Brown rat · Buffalo, New York · Denali ·
Emmy Noether · Henri Poincaré · List of largest mammals · List of mammals of North America · Mammals of North America ·
Marie Curie · Mass–energy equivalence · Mercury (element) · Mercury (planet) · Moose · North America ·
North American beaver · Polar bear · Prime number · Rat · Sieve of Eratosthenes · Speed of light · Tokyo ·
Yellowstone National Park · Łódź · 東京
"""
DISAMBIGUATIONS = ["Buffalo", "Mercury", "Rat (disambiguation)"]
VOID = {"meta", "link", "br", "img"}


def names(listed: str) -> list[str]:
    return [name.strip() for name in listed.replace("\n", " ").split(" · ")]


@pytest.fixture(scope="module")
def archive() -> Archive:
    return Archive(sample.archive_path())


@pytest.fixture(scope="module")
def entries(archive) -> dict:
    """Every entry of the archive's content by path, without metadata and indexes."""
    return {entry.path: entry for entry in map(archive._get_entry_by_id, range(archive.entry_count))}


@pytest.fixture(scope="module")
def pages(entries) -> dict[str, str]:
    """The HTML of every page by title, but for the stub of the section redirect and the main page."""
    html = {}
    for path, entry in entries.items():
        if (
            not entry.is_redirect
            and entry.get_item().mimetype == "text/html"
            and path not in ("index", "Bison_hunting")
        ):
            html[entry.title] = bytes(entry.get_item().content).decode()
    return html


@pytest.fixture(scope="module")
def trees(pages) -> dict[str, LexborHTMLParser]:
    return {title: LexborHTMLParser(html) for title, html in pages.items()}


def text(tree) -> str:
    """What a reader sees of an article's text, without references, edit marks and the box at its end."""
    body = LexborHTMLParser(tree.html).css_first("div.mw-parser-output")
    for node in body.css("sup.reference, ol.references, .mw-editsection, .navbox, style"):
        node.decompose()
    return re.sub(r"\s+", " ", body.text())


def test_the_archive_holds_29_articles_3_disambiguations_and_40_redirects(archive, entries, pages):
    assert sorted(pages) == sorted(names(ARTICLES) + DISAMBIGUATIONS)
    assert len(names(ARTICLES)) == 29
    assert len(pages) == 32
    assert sum(entry.is_redirect for entry in entries.values()) == 40
    assert archive.has_new_namespace_scheme
    assert archive.has_fulltext_index
    assert archive.has_title_index
    assert archive.check()


def test_metadata_and_main_page(archive):
    expected = {"Title", "Description", "Language", "Date", "Creator", "Publisher", "Name", "Illustration_48x48@1"}
    assert expected <= set(archive.metadata_keys)
    assert archive.get_metadata("Language") == b"eng"
    assert re.fullmatch(rb"\d{4}-\d\d-\d\d", archive.get_metadata("Date"))
    assert bytes(archive.get_illustration_item(48).content).startswith(b"\x89PNG")
    main = LexborHTMLParser(bytes(archive.main_entry.get_item().content))
    assert sorted(link.text() for link in main.css("#list a")) == sorted(names(ARTICLES) + DISAMBIGUATIONS)


@pytest.mark.parametrize(
    ("redirect", "target"),
    [
        ("Largest mammals", "List of largest mammals"),
        ("Bison bison", "American bison"),
        ("Buffalo (animal)", "American bison"),
        ("Amercian bison", "American bison"),
        ("Norway rat", "Brown rat"),
        ("Poincaré", "Henri Poincaré"),
        ("Лодзь", "Łódź"),
        ("E=mc²", "Mass–energy equivalence"),
        ("Buffalo, NY", "Buffalo, New York"),
    ],
)
def test_redirects_lead_to_their_article(archive, redirect, target):
    entry = archive.get_entry_by_path(redirect.replace(" ", "_"))
    assert entry.title == redirect
    assert entry.is_redirect
    assert entry.get_redirect_entry().title == target


def test_every_redirect_ends_at_an_article(entries, pages):
    redirects = [entry for entry in entries.values() if entry.is_redirect]
    assert {entry.get_redirect_entry().title for entry in redirects} <= set(pages)
    assert all(entry.path == entry.title.replace(" ", "_") for entry in redirects)


def test_the_section_redirect_is_a_page_that_refreshes_to_it(archive, trees):
    stub = bytes(archive.get_entry_by_path("Bison_hunting").get_item().content).decode()
    assert """<meta http-equiv="refresh" content="0;URL='./American_bison#Near_extinction'" />""" in stub
    assert trees["American bison"].css_first("h3#Near_extinction").text() == "Near extinction"


def test_the_classic_question_is_a_miss_that_the_bison_answers(entries, trees):
    titles = {entry.title.lower() for entry in entries.values()}
    assert "largest mammal in north america" not in titles
    assert "largest mammal" not in titles
    lead = trees["American bison"].css_first('section[data-mw-section-id="0"]').css_first("p").text()
    assert "is the largest land mammal in North America" in lead
    assert "1,000 kg" in lead
    assert "The American bison is the largest land mammal in North America." in text(trees["List of largest mammals"])


def test_questions_are_answered_by_an_article(trees):
    questions = sample.questions()
    assert len(questions) == 4
    assert questions[0] == "What's the largest mammal in North America?"
    assert "23 March 1882" in text(trees["Emmy Noether"])
    assert "299,792,458 metres per second" in text(trees["Speed of light"])
    assert "6,190 m" in text(trees["Denali"])


def test_the_long_article_is_beyond_the_limit_of_one_reading(trees):
    lengths = {title: len(text(tree)) for title, tree in trees.items()}
    assert lengths.pop("List of mammals of North America") > 65_535
    assert max(lengths.values()) < 10_000


def test_paragraphs_of_the_long_article_are_all_different(trees):
    paragraphs = [p.text() for p in trees["List of mammals of North America"].css("p")]
    assert len(paragraphs) > 100
    assert len(set(paragraphs)) == len(paragraphs)


@pytest.mark.parametrize("title", DISAMBIGUATIONS)
def test_disambiguations_are_marked_as_such(trees, title):
    assert trees[title].css_first("#disambigbox") is not None
    assert trees[title].css_first('meta[property="mw:PageProp/disambiguation"]') is not None
    assert "refer to" in trees[title].css_first("p").text() + trees[title].css("p")[-1].text()


def test_pages_have_the_structure_of_a_wikipedia_archive(trees):
    for title, tree in trees.items():
        assert tree.css_first("title").text() == title
        assert tree.css_first("main#content.mw-body h1#firstHeading").text() == title
        assert len(tree.css("div.mw-parser-output")) == 1
        assert tree.css_first('div.mw-parser-output > section[data-mw-section-id="0"] > p') is not None
        headings = tree.css("h2, h3")
        numbers = [int(section.attributes["data-mw-section-id"]) for section in tree.css("section")]
        assert numbers == list(range(len(headings) + 1))
        assert len(tree.css(".mw-editsection")) == len(headings)
        assert "This article is issued from" in tree.css_first(".zim-footer").text()
    assert trees["東京"].css_first("html").attributes["lang"] == "ja"


def test_nested_sections(trees):
    section = trees["American bison"].css_first("h3#Near_extinction").parent.parent
    assert section.tag == "section"
    assert section.parent.css_first("h2").text() == "History"


@pytest.mark.parametrize(
    ("title", "selector"),
    [
        ("American bison", "table.infobox.biota td"),
        ("Emmy Noether", "table.infobox th.infobox-label"),
        ("List of largest mammals", "table.wikitable td[rowspan]"),
        ("List of largest mammals", "table.wikitable th[colspan]"),
        ("Sieve of Eratosthenes", "div.mw-highlight-lang-python pre span.k"),
        ("Rat", "ul li ul li"),
        ("American bison", "dl dt"),
        ("American bison", "sup.mw-ref.reference a"),
        ("American bison", "ol.mw-references.references li"),
        ("American bison", 'div.hatnote[role="note"]'),
        ("American bison", "div.navbox table"),
        ("Brown rat", "table.infobox img"),
        ("Speed of light", "span.mwe-math-element math annotation"),
    ],
)
def test_the_sample_has_every_kind_of_markup(trees, title, selector):
    assert trees[title].css(selector)


class Balance(HTMLParser):
    """Fails where a tag is closed that is not the innermost open one."""

    def __init__(self):
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, self.getpos()


def test_pages_are_well_formed_and_no_shorthand_is_left(pages):
    for title, html in pages.items():
        balance = Balance()
        balance.feed(html)
        assert balance.open == [], title
        assert not re.search(r"\[\[|\]\]|</?(infobox|ref|references|navbox|hatnote|disambiguation)\b", html), title
        ids = re.findall(r'\sid="([^"]*)"', html)
        assert len(ids) == len(set(ids)), title


def test_every_link_and_every_file_exists(archive, trees):
    for title, tree in trees.items():
        for node in tree.css("a[href], img[src], link[href]"):
            href = node.attributes.get("href") or node.attributes["src"]
            if href.startswith("https://"):
                continue
            path, _, fragment = unquote(href).partition("#")
            target = tree
            if path:
                assert path.startswith("./"), (title, href)
                assert archive.has_entry_by_path(path[2:]), (title, href)
                if fragment:
                    target = trees[archive.get_entry_by_path(path[2:]).get_item().title]
            if fragment:
                assert target.css_first(f'[id="{fragment}"]') is not None, (title, href)


def test_references_are_numbered_in_order(trees):
    for title, tree in trees.items():
        marks = [int(mark.text().strip("[]")) for mark in tree.css("sup.reference")]
        assert list(dict.fromkeys(marks)) == list(range(1, len(set(marks)) + 1)), title
        assert len(tree.css("ol.references > li")) == len(set(marks)), title
    assert trees["American bison"].css_first("#cite_note-1").text().split()[1] == "Aune,"


def test_formulas_carry_their_tex_beside_sound_mathml(pages):
    found = [math for html in pages.values() for math in re.findall(r"<math.*?</math>", html, re.S)]
    assert len(found) > 40
    for math in found:
        root = ElementTree.fromstring(math)
        annotation = root.find(".//{*}annotation")
        assert annotation.text == root.get("alttext")
        assert annotation.text.startswith("{\\displaystyle ")
    assert any("{\\displaystyle c = \\frac{1}{\\sqrt{\\varepsilon_{0} \\mu_{0}}}}" in math for math in found)
    assert any("<msup><mi>c</mi><mrow><mn>2</mn></mrow></msup>" in math for math in found)


@pytest.mark.parametrize(
    ("title", "output"),
    [("Sieve of Eratosthenes", "[2, 3, 5, 7, 11, 13, 17, 19, 23, 29]\n"), ("Ada Lovelace", "-1/30\n")],
)
def test_code_in_articles_runs(trees, title, output):
    with redirect_stdout(io.StringIO()) as out:
        exec(trees[title].css_first(".mw-highlight pre").text(), {})
    assert out.getvalue() == output


def test_titles_and_text_can_be_searched(archive):
    suggested = SuggestionSearcher(archive).suggest("list of largest")
    assert "List_of_largest_mammals" in list(suggested.getResults(0, 10))
    found = Searcher(archive).search(Query().set_query("Bernoulli numbers engine"))
    assert next(iter(found.getResults(0, 1))) == "Ada_Lovelace"
