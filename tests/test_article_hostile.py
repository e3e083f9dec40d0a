"""Pages made to stall or to fill the memory: each gives an article or an ArticleError, and the same one every time."""

import subprocess
import sys

import pytest

from ratsearch_lib.article import Article
from ratsearch_lib.errors import ArticleError

WIKI = '<h1>T</h1><div class="mw-parser-output"><p>First.</p>'

PAGES = {
    "nested": WIKI + "<div>" * 50_000 + "deep" + "</div>" * 50_000,
    "nested, not closed": WIKI + "<div>" * 50_000 + "deep",
    "nested, with the ends of others": WIKI + "<div></b></x>x" * 40_000,
    "nested formats": WIKI + "<b>" * 50_000 + "deep",
    "formats opened anew": WIKI + "".join(f"<b id=x{n}>" for n in range(2000)) + "<p>x" * 2000,
    "formats in paragraphs": WIKI + "".join(f"<p><i id=x{n}>t" for n in range(5000)),
    "nested lists": WIKI + "<ul><li>" * 5000 + "deep",
    "nested tables": WIKI + "<table class=wikitable><tr><td>" * 2000 + "deep",
    "nested infoboxes": WIKI + "<table class=infobox><tr><td colspan=2>" * 200 + "<tr><th>a<td>b",
    "nested foreign lists": "<p>First.</p>" + "<ul><li>" * 5000 + "deep",
    "many attributes": WIKI + "<div " + " ".join(f"a{n}=1" for n in range(50_000)) + ">deep</div>",
    "many attributes after one with a bracket": WIKI
    + "<div a='>' "
    + "/".join(f"a{n}" for n in range(50_000))
    + ">deep</div>",
    "spans": WIKI + "<table class=wikitable>" + ("<tr>" + "<td colspan=1000 rowspan=65000>x" * 50) * 300,
    "readings without their words": WIKI + "<rp>" * 120_000,
    "empty lines": "<p>First.</p>" + "<td>\n" * 40_000,
    "entities": '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>' + WIKI + "<p>&b;</p>",
    "nulls": WIKI.replace("First", "F\0irst") + "\0" * 10_000,
    "selects": WIKI + "<select><option>" * 10_000,
    "open comment": WIKI + "<!--" + "x" * 1_000_000,
    "open tag": WIKI + "<a href='" + "x" * 1_000_000,
    "brackets": WIKI + "[" * 200_000 + "<sup>[" * 2000,
    "surrogates": WIKI + "a\ud800b",
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_the_article_is_still_read(page):
    article = Article.from_html(page)
    assert "First." in article.text()
    assert len(article.text(300)) <= 300
    assert article == Article.from_html(page)


@pytest.mark.parametrize(
    "page",
    ["", "   ", b"\0" * 100, "<svg>" * 1000, "<script>var a = 1</script>", "<h1> </h1><img src=x>", b"\xef\xbb\xbf"],
)
def test_nothing_to_read_is_an_article_error(page):
    with pytest.raises(ArticleError, match="holds no text"):
        Article.from_html(page)


@pytest.mark.parametrize(
    "page",
    [
        "<p>Grüße aus Köln</p>".encode(),
        '<meta charset="iso-8859-1"><p>Grüße aus Köln</p>'.encode(),  # it says so, but is not
        '<meta charset="iso-8859-1"><p>Grüße aus Köln</p>'.encode("latin-1"),
        "<p>Grüße aus Köln</p>".encode("windows-1252"),
        "<p>Grüße aus Köln</p>".encode("utf-16"),
        '<meta charset="no-such"><p>Grüße aus Köln</p>'.encode("latin-1"),
        '<meta charset="rot13"><p>Grüße aus Köln</p>'.encode("latin-1"),
    ],
)
def test_character_sets(page):
    assert Article.from_html(page).lead == "Grüße aus Köln"


def test_a_page_cut_within_a_character_stays_utf8():
    page = ("<p>" + "Grüße aus Köln. " * 200).encode()
    assert Article.from_html(page[: page.rindex("ü".encode()) + 1]).lead.startswith("Grüße aus Köln. Grüße")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("piece", ["<b>x</b>", "<tr><td>a<td>b"])
def test_twenty_megabytes_take_less_than_300(piece):
    code = (
        "import re; from ratsearch_lib.article import Article\n"
        f"page = '<div class=mw-parser-output><table>' + {piece!r} * (20_000_000 // len({piece!r}))\n"
        "print(len(Article.from_html(page).text(65_535)))\n"
        "print(int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1]) // 1024)"
    )  # and not ru_maxrss, which begins with what the parent held when it forked
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    length, megabytes = map(int, done.stdout.split())
    assert 0 < length <= 65_535
    assert megabytes < 300
