"""Real pages: values read in their HTML by eye, and every page of every archive."""

from pathlib import Path

import pytest
from libzim.reader import Archive

from ratsearch_lib.article import Article
from ratsearch_lib.errors import ArticleError


@pytest.fixture(scope="session")
def page(data):
    def read(name: str) -> Article:
        return Article.from_html((data / "html" / f"{name}.html").read_bytes())

    return read


@pytest.mark.parametrize(
    ("name", "title", "rows"),
    [
        ("zim2022_wikipedia_en_Oxygen", "Oxygen", {"Melting point": "(O₂) 54.36 K (−218.79 °C, −361.82 °F)"}),
        ("simzim_kreuzberg_wkey_am", "WKEY (AM)", {"Frequency": "1340 kHz", "First air date": "May 23, 1941"}),
        ("kreuzberg_berlin_german", "Berlin", {"Fläche": "891,1 km² (2024)"}),
        ("zim2017_wikipedia_fr_Warrington", "Warrington", {"Population": "202 700 hab. (2011)"}),
        ("simzim_kreuzberg_beijing_chinese", "北京市", {"• 总计": "16,410.54平方公里"}),
        (
            "simzim_kreuzberg_world_war_ii",
            "World War II",
            {"Date": "1 September 1939 – 2 September 1945 (6 years, 1 day)"},
        ),
        ("zim2015_wikipedia_en_Quincy_Jones", "Quincy Jones", {"Birth name": "Quincy Delight Jones, Jr."}),
        (
            "zim2023_wikipedia_en_Gold_Digger_(Kanye_West_song)",
            "Gold Digger (Kanye West song)",
            {"Length": "3:28", "Label": "Roc-A-Fella; Def Jam"},
        ),
    ],
)
def test_infobox(page, name, title, rows):
    article = page(name)
    assert article.title == title
    found = {key: [v for k, v in article.infobox if k == key] for key in rows}
    assert all(value in found[key] for key, value in rows.items()), found


def test_table_with_rowspan(page):
    atlantic = page("zim2018_wikipedia_en_Ray_Charles_discography").section("The Atlantic years").text
    lines = atlantic.split("\n")
    assert lines[:2] == ["| Year | Album | US | Label |", "| --- | --- | --- | --- |"]
    assert "| 1957 | The Great Ray Charles | — | Atlantic |" in lines


def test_code_and_formulas(page):
    assert "```rust\nfn main() {\n" in page("h2m_large_rust").text()
    assert "$\\mathbb {Z}$" not in page("zim2022_wikipedia_en_Oxygen").text()
    assert "AB=BA" in page("readability_wikipedia-3").text()


def test_first_sentences(page):
    leads = {
        "simzim_kreuzberg_sinthgunt": "Sinthgunt is a figure in Germanic mythology",
        "zim2023_wikipedia_en_Ray_Charles": "Ray Charles Robinson Sr. (September 23, 1930 – June 10, 2004) was",
        "zim2017_meta__question_3": "Are there any rules about the language used here?",
        "zim2024_tonedear__tonedear.com_ear-training_intervals": "In this exercise, you will hear two notes",
    }
    for name, start in leads.items():
        assert page(name).lead.startswith(start)


def test_disambiguation_page(data):
    html = (data / "html" / "goldsmith_Dodge_Ram_(disambiguation).html").read_bytes()
    article = Article.from_html(html, "Dodge Ram (disambiguation)")
    assert article.is_disambiguation
    assert "- Dodge Ram Van - full-size van" in article.lead


def pages_of(archive: Path):
    zim = Archive(archive)
    for number in range(zim.all_entry_count):
        entry = zim._get_entry_by_id(number)
        if not entry.is_redirect and "html" in entry.get_item().mimetype:
            yield entry.path, bytes(entry.get_item().content)


ARCHIVES = [
    "foo-zstd",
    "gozim_test",
    "kiwix_android_testzim",
    "libkiwix_corner_cases",
    "libkiwix_example",
    "libkiwix_poor",
    "tonedear.com_en_2024-09",
    "wikipedia_cr_all_2015-04",
    "wikipedia_en_100_mini_2022-10",
    "wikipedia_en_ray_charles_2015-06",
    "wikipedia_en_ray_charles_maxi_2023-09",
    "wikipedia_en_ray_charles_mini_2020-03",
    "wikipedia_en_ray_charles_novid_2018-10",
]


@pytest.mark.parametrize("archive", ARCHIVES)
def test_every_page_of_an_archive_has_a_title_and_a_lead(data, archive):
    for path, html in pages_of(data / "zim" / f"{archive}.zim"):
        if not html.strip():
            with pytest.raises(ArticleError):
                Article.from_html(html)
            continue
        article = Article.from_html(html)
        assert article.title, path
        assert article.lead or article.redirect_to, path
