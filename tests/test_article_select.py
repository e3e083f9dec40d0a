"""What answers a question: passages, quotes, and a selection within its budget."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.article import Article, passages, quotes
from ratsearch_lib.article.select import estimate_tokens

FILLER = "<p>Nothing of interest is told here, for the weather was grey. It stayed so all week.</p>" * 12
PAGE = f"""<h1>Ada Example</h1>
<table class=infobox><tr><th>Born</th><td>1 May 1815</td></tr><tr><th>Residence</th><td>Northtown</td></tr></table>
<p><b>Ada Example</b> was a clockmaker. She built towers.</p>{FILLER}
<h2>Works</h2>{FILLER}<p>The bronze bell was cast in Southport. It weighs nine tonnes. Nobody rings it.</p>
<table class=wikitable><tr><th>Tower</th><th>Height</th></tr><tr><td>East</td><td>40 m</td></tr>
<tr><td>West</td><td>55 m</td></tr><tr><td>North</td><td>60 m</td></tr></table>
<h2>Death</h2>{FILLER}<p>Example died of fever in 1852. Her grave is lost.</p>"""
ADA = Article.from_html(PAGE)


@pytest.mark.parametrize(
    ("question", "section", "answer"),
    [
        ("Where was the bell cast?", "Works", "The bronze bell was cast in Southport."),
        ("What did Ada Example die of?", "Death", "Example died of fever in 1852."),
        ("When was she born?", "", "Born: 1 May 1815"),
        ("What is the height of the West tower?", "Works", "| Tower | Height |\n| --- | --- |\n| West | 55 m |"),
    ],
)
def test_the_best_quote(question, section, answer):
    best = quotes(ADA, question)[0]
    assert (best.section, best.text) == (section, answer)
    assert best.score > 0


def test_quotes_and_passages_are_ranked_and_limited():
    found = passages(ADA, "Where was the bronze bell cast?", limit=2)
    assert len(found) <= 2
    assert found[0].text == "The bronze bell was cast in Southport. It weighs nine tonnes. Nobody rings it."
    scores = [passage.score for passage in passages(ADA, "grey weather bell")]
    assert scores == sorted(scores, reverse=True)


def test_a_question_about_something_else_has_no_answer():
    assert quotes(ADA, "zyzzyva?") == []
    assert passages(ADA, "") == []
    assert ADA.select("zyzzyva?", max_chars=500) == ADA.text(500)


def test_a_follow_up_leans_on_the_question_before():
    alone = quotes(ADA, "And how heavy is it?", limit=1)
    asked = quotes(ADA, "And how heavy is it?", previous_questions=["Where was the bronze bell cast?"], limit=1)
    assert "bell" not in "".join(quote.text for quote in alone)
    assert "bell" in asked[0].text


def test_selection_has_title_lead_outline_headings_gaps_and_a_last_line():
    text = ADA.select("Where was the bronze bell cast?", max_chars=900)
    assert len(text) <= 900
    parts = text.split("\n\n")
    assert parts[0] == "Article: Ada Example"
    assert parts[1] == "Sections: Works; Death"
    assert parts[2].startswith("Ada Example was a clockmaker.")
    assert "## Works" in parts
    assert parts.index("## Works") < next(n for n, part in enumerate(parts) if "cast in Southport." in part)
    assert "…" in text
    assert parts[-1].startswith("[Left out: ")
    assert parts[-1].endswith('Read a section with read_article("Ada Example#Works").]')


def test_selected_rows_keep_their_header():
    text = ADA.select("How high is the West tower?", max_chars=900)
    assert "| Tower | Height |\n| --- | --- |" in text
    assert "| West | 55 m |" in text


def test_selection_keeps_the_article_s_order():
    text = ADA.select("Who died, where was the bell cast, when was she born?", max_chars=1200)
    places = [text.index(piece) for piece in ("Born: 1 May 1815", "Southport", "died of fever")]
    assert places == sorted(places)


def test_a_short_article_is_given_whole():
    short = Article.from_html("<h1>Rat</h1><p>A rodent.</p>")
    assert short.select("What is a rat?") == "Article: Rat\n\nA rodent."


@given(st.integers(0, 6000), st.text(max_size=60))
def test_never_longer_than_the_budget(max_chars, question):
    assert len(ADA.select(question, max_chars=max_chars)) <= max_chars
    assert len(ADA.select("Where was the bell cast?", max_chars=max_chars)) <= max_chars


@given(st.integers(1, 1500))
def test_never_more_than_the_estimated_tokens(max_tokens):
    assert estimate_tokens(ADA.select("Where was the bell cast?", max_tokens=max_tokens)) <= max_tokens


def test_without_a_budget_two_thousand_tokens():
    long = Article.from_html(PAGE.replace(FILLER, FILLER * 12))
    assert estimate_tokens(long.text()) > 4000
    assert 1000 < estimate_tokens(long.select("Where was the bronze bell cast? Was it grey weather?")) <= 2000


@pytest.mark.parametrize(("file", "least"), [("squad_articles", 0.90), ("xquad_zh", 0.90), ("xquad_ar", 0.90)])
def test_the_answer_is_in_the_selection(data, file, least):
    """A sample of what benchmarks/reading.py measures in full."""
    hits = n = 0
    for page in json.loads((data / "reading" / f"{file}.json").read_text(encoding="utf-8"))["data"]:
        article = Article(page["title"], "\n\n".join(paragraph["context"] for paragraph in page["paragraphs"]))
        for question in [qa for paragraph in page["paragraphs"] for qa in paragraph["qas"]][::40]:
            text = article.select(question["question"], max_chars=2000)
            n += 1
            hits += any(answer["text"].casefold() in text.casefold() for answer in question["answers"])
    assert n > 20
    assert hits / n >= least
