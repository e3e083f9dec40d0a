"""HTML → Article: small pages written for each rule, and values of real pages read in their HTML by eye."""

from textwrap import dedent

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ratsearch_lib.article import Article, Section
from ratsearch_lib.errors import ArticleError


def wiki(body: str, head: str = "") -> Article:
    return Article.from_html(f'<html><head>{head}</head><body><div id="mw-content-text">{body}</div></body></html>')


def test_title_lead_and_sections():
    article = wiki(
        "<h1>Rat</h1><p>A <b>rodent</b>.</p><h2 id='Diet'>Diet</h2><p>All.</p><p>More.</p><h3>Seeds</h3><p>Yes.</p>"
    )
    assert article.title == "Rat"
    assert article.lead == "A rodent."
    assert article.sections == (Section(2, "Diet", "All.\n\nMore.", "Diet"), Section(3, "Seeds", "Yes."))


def test_text_is_markdown():
    article = wiki(
        "<h1>Rat</h1><p>A rodent.</p><h2>Diet</h2><ul><li>seeds<ul><li>oats</li></ul></li><li>fruit</li></ul>"
    )
    assert article.text() == dedent("""\
        Article: Rat

        A rodent.

        ## Diet

        - seeds
          - oats
        - fruit""")


def test_numbered_and_definition_lists():
    article = wiki("<h1>X</h1><ol start=3><li>c</li><li>d</li></ol><dl><dt>Rat</dt><dd>a rodent</dd></dl>")
    assert article.lead == "3. c\n4. d\n\n- Rat: a rodent"


@pytest.mark.parametrize("infobox", ["infobox", "infobox vcard", "infobox_v2", "taxobox"])
def test_infobox(infobox):
    article = wiki(
        f"<h1>Rat</h1><table class='{infobox}'><tr><th colspan=2>Rat</th></tr>"
        "<tr><td colspan=2><img src=x><br>A rat</td></tr>"
        "<tr><th>Born</th><td><span style='display:none'>(1905-01-02)</span>2 January 1905</td></tr>"
        "<tr><th>Label:</th><td><ul><li>One</li><li>Two</li></ul></td></tr>"
        "<tr><th>Area</th><td>5 km<sup>2</sup><sup class=reference><a href='#cite_note-1'>[1]</a></sup></td></tr>"
        "<tr><th colspan=2>Signature</th></tr><tr><td colspan=2><img src=y></td></tr></table><p>A rodent.</p>"
    )
    assert article.infobox == (("Born", "2 January 1905"), ("Label", "One; Two"), ("Area", "5 km²"))
    assert article.text() == "Article: Rat\n\nA rodent.\n\nBorn: 2 January 1905\nLabel: One; Two\nArea: 5 km²"


def test_table_carries_rowspan_and_colspan_and_joins_header_rows():
    article = wiki(
        "<h1>X</h1><p>L.</p><table class=wikitable><caption>Albums</caption>"
        "<tr><th rowspan=2>Year</th><th colspan=2>Peak</th></tr><tr><th>US</th><th>UK</th></tr>"
        "<tr><td rowspan=2>1957</td><td>1</td><td>a|b</td></tr><tr><td>2</td><td>—</td></tr></table>"
    )
    assert article.lead.split("\n\n")[1] == dedent("""\
        Table: Albums
        | Year | Peak US | Peak UK |
        | --- | --- | --- |
        | 1957 | 1 | a\\|b |
        | 1957 | 2 | — |""")


def test_a_table_that_only_lays_out_is_no_table():
    assert wiki("<h1>X</h1><table><tr><td><p>One.</p><p>Two.</p></td></tr></table>").lead == "One.\n\nTwo."


MATH = (
    "<span class='mwe-math-element'><span class='mwe-math-mathml-inline' style='display:none'>"
    "<math alttext='{\\displaystyle E=mc^{2}}'><mi>E</mi><annotation>{\\displaystyle E=mc^{2}}</annotation></math>"
    "</span><img class='mwe-math-fallback-image-inline' alt='{\\displaystyle E=mc^{2}}'></span>"
)


@pytest.mark.parametrize(
    "formula",
    [
        MATH,
        "<math alttext='E=mc^{2}'><mi>E</mi></math>",
        "<math><semantics><mi>E</mi><annotation encoding='application/x-tex'>E=mc^{2}</annotation></semantics></math>",
        "<img class='mwe-math-fallback-image-inline' alt='E=mc^{2}'>",
        "<img class='tex' alt='E=mc^{2}'>",
    ],
)
def test_a_formula_stands_there_once(formula):
    assert wiki(f"<h1>X</h1><p>Mass: {formula}.</p>").lead == "Mass: $E=mc^{2}$."


def test_a_formula_of_its_own_is_a_line_once():
    block = MATH.replace("span", "div").replace("inline", "display").replace("<math", "<math display='block'")
    assert wiki(f"<h1>X</h1><p>Mass:</p>{block}<p>So it is.</p>").lead == "Mass:\n\n$$E=mc^{2}$$\n\nSo it is."


def test_reference_marks_in_plain_text_are_left_out_but_no_others():
    page = wiki("<h1>X</h1><p>It sold well.[35] Lists count from 1, so a[2] and f(x)[1] are others.[36]</p>")
    assert page.lead == "It sold well. Lists count from 1, so a[2] and f(x)[1] are others."


def test_super_and_subscripts():
    lead = wiki(
        "<h1>X</h1><p>H<sub>2</sub>O, 10<sup>−3</sup> m, 1<sup>st</sup>, x<sub>max+1</sub>, e<sup>ab c</sup></p>"
    ).lead
    assert lead == "H₂O, 10⁻³ m, 1st, x_(max+1), e^(ab c)"


def test_code_with_its_language():
    article = wiki(
        "<h1>X</h1><p>Use <code>ls</code>.</p>"
        "<div class='mw-highlight mw-highlight-lang-python'><pre>a = 1\n\nb = 2</pre></div>"
    )
    assert article.lead == "Use `ls`.\n\n```python\na = 1\n\nb = 2\n```"


def test_what_is_no_part_of_the_article_is_left_out():
    article = wiki(
        "<h1>X</h1><div id=toc><h2>Contents</h2></div>"
        "<p>Text.<sup class='reference' id='cite_ref-1'><a href='#cite_note-1'>[1]</a></sup>"
        "<sup>[<i>citation needed</i>]</sup><span style='display: none'>hidden</span></p><style>p{}</style>"
        "<h2>Life<span class='mw-editsection'>[edit]</span></h2><p>More.</p>"
        "<table class='navbox'><tr><td>nav</td></tr></table>"
        "<h2>References</h2><ol class=references><li>Ref</li></ol><h2>Einzelnachweise</h2><p>apparatus</p>"
        "<h2>Alien heading</h2><ul><li><a class='external text' href='http://x.org'>x</a></li><li><cite>Book</cite></li></ul>"
        "<h2>Empty</h2>"
    )
    assert article.text() == "Article: X\n\nText.\n\n## Life\n\nMore."


def test_hatnotes_and_links():
    article = wiki(
        "<h1>X</h1><div class=hatnote>For other uses, see <a href='./X_(disambiguation)'>X</a>.</div>"
        "<p><a href='./Rat_King'>kings</a> <a href='../A/Caf%C3%A9#Menu'>café</a> <a href='http://x.org/'>out</a>"
        "<a class=external href='//y.org'>y</a> <a href='#here'>here</a> <a href='/wiki/Portal:Music'>music</a> "
        "<a href='Rat_King'>again</a></p>"
    )
    assert article.hatnotes == ("For other uses, see X.",)
    assert article.links == (
        ("X_(disambiguation)", "X"),
        ("Rat_King", "kings"),
        ("Café", "café"),
        ("Portal:Music", "music"),
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h1>Mercury</h1><p><b>Mercury</b> may refer to:</p><ul><li>a planet</li><li>a god</li></ul>", True),
        ("<h1>Bank</h1><p>Bank steht für:</p><ul><li>ein Möbel</li></ul>", True),
        ("<h1>Ram (disambiguation)</h1><p>Ram.</p>", True),
        ("<h1>X</h1><p>A.</p><div id=disambigbox class='dmbox'>x</div>", True),
        ("<h1>Mercury</h1><p>A planet. It may refer to nothing.</p><p>More.</p>", False),
    ],
)
def test_disambiguation(body, expected):
    assert wiki(body).is_disambiguation is expected


def test_a_refresh_stub_says_where_it_leads():
    refresh = """<meta http-equiv="refresh" content="0;URL='./Rat#Early%20life'" />"""
    stub = f"<html><head><title>R</title>{refresh}</head><body></body></html>"
    assert Article.from_html(stub).redirect_to == "Rat#Early life"
    assert wiki("<h1>X</h1><p>Text.</p>").redirect_to is None


def test_a_page_that_begins_with_a_heading_has_a_lead():
    article = wiki("<h1>X</h1><h2>Meaning</h2><p>First.</p><h2>Use</h2><p>Second.</p>")
    assert article.lead == "First."
    assert [section.heading for section in article.sections] == ["Use"]


def test_title_given_by_the_archive_wins():
    assert Article.from_html("<h1>rat</h1><p>A rodent.</p>", "Rat").title == "Rat"
    assert Article.from_html("<title>Rat - Wikipedia</title><p>A rodent.</p>").title == "Rat"


def test_sections_are_found_by_heading_and_id():
    article = wiki(
        "<h1>X</h1><p>L.</p><h2 id='Early_life_and_career'>Early life &amp; career</h2><p>A.</p>"
        "<h3>School</h3><p>B.</p>"
        "<h2>Café au lait</h2><p>C.</p>"
    )
    whole = "A.\n\n### School\n\nB."
    for name in ("Early life & career", "early_life_and_career", "#Early_life_and_career", "EARLY LIFE"):
        assert article.section(name).text == whole
    for name in ("Caf%C3%A9_au_lait", "Caf.C3.A9_au_lait", "café au lait"):
        assert article.section(name).text == "C."
    assert article.section("Death") is None
    assert article.section("") is None
    assert article.part("School").text() == "Article: X#School\n\nB."
    assert article.outline() == (
        "- Early life & career (2 characters)\n  - School (2 characters)\n- Café au lait (2 characters)"
    )


def long_article() -> Article:
    sections = tuple(Section(2, f"Part {n}", f"{'Word ' * 60}end {n}.\n\nSecond paragraph {n}.") for n in range(9))
    return Article("Long", "The lead.", infobox=(("Key", "value"),), sections=sections)


def test_cut_text_ends_with_a_paragraph_and_says_what_is_missing():
    article = long_article()
    text = article.text(1000)
    assert len(text) <= 1000
    *kept, mark = text.split("\n\n")
    assert kept == article.text().split("\n\n")[: len(kept)]
    assert not kept[-1].startswith("#")
    assert mark.startswith("[Left out")
    assert 'read_article("Long#Part' in mark


@given(st.integers(0, 4000))
def test_text_is_never_longer_than_asked(max_chars):
    text = long_article().text(max_chars)
    assert len(text) <= max_chars
    assert long_article().text(10**6) == long_article().text()


PIECES = """<p>|<div class=infobox>|<table class=infobox>|<table class=wikitable>|<tr>|<td>|<th>|</td>|</table>|<ul>
<li>|<td rowspan=3 colspan=2>|</ul>|<ol start=x>|<dl>|<dt>|<dd>|<h1>|<h2>|<h3 id=a>|</h2>|<pre>|</pre>|<code>|<sup>
<sub>|</a>|<a href='./X#y'>|<math alttext='x'>|<span class=chemf>|<br>|<b>|<i>|<!--|<![CDATA[|<script>
</script>|<template>|<svg>|<select>|&amp;|&#0;|&#xD800;|<|<div id=mw-content-text>|<blockquote>|<figure>|<title>
</title>|\0|`|<meta http-equiv=refresh content='0;url=./A'>""".replace("\n", "|").split("|")
MARKUP = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=60).map("".join)


@settings(max_examples=80, deadline=None)
@given(MARKUP, st.booleans())
@example("#", False)
def test_any_markup_gives_an_article_or_an_article_error(markup, in_wiki):
    page = f'<div class="mw-parser-output">{markup}' if in_wiki else markup
    try:
        article = Article.from_html(page)
    except ArticleError:
        return
    assert article == Article.from_html(page)
    assert article.title or article.redirect_to
    assert article.text().startswith("Article: ")
    assert len(article.text(200)) <= 200
    assert len(article.select("What is x?", max_chars=300)) <= 300
    article.outline()


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_an_article_or_an_article_error(page):
    try:
        article = Article.from_html(page)
    except ArticleError:
        return
    assert article.title or article.redirect_to
