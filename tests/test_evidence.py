"""Evidence: verdicts on sentences whose truth is plain from the text beside them."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratsearch_lib import Agent, ChatClient, Evidence, Library, RunFinished
from ratsearch_lib.agent.evidence import read_before
from ratsearch_lib.cli import main
from ratsearch_lib.evidence import SentenceEvidence, check, citations, cited, mark, summary, verdict_words
from ratsearch_lib.evidence.answer import split
from ratsearch_lib.evidence.numbers import numbers
from ratsearch_lib.sample import archive_path
from ratsearch_lib.tools import ReadResult
from ratsearch_lib.ui.conversation import Turn
from ratsearch_lib.ui.evidence import marked
from ratsearch_lib.ui.kept import from_json, to_json, to_markdown
from ratsearch_lib.view import Panel

from .conformance.server import ScriptedServer, call, llamacpp_props, say

CAMEL = ReadResult(
    """Article: Camel

The camel is a large mammal with one or two humps on its back. A grown bull weighs up to 1,000 kg (2,200 lb). It can
drink 113 litres in thirteen minutes. It does not store water in its humps.

## History

Ada Brandt brought 34 camels to Texas on 14 May 1856. The herd was sold in 1866 to Bethel Coopwood.

| Species | Humps |
| --- | --- |
| Dromedary | one |
| Bactrian camel | two |""".replace("can\n", "can "),
    "Camel",
    "x.zim/Camel",
)


def verdicts(answer, *sources):
    return [each.verdict for each in check(answer, sources or [CAMEL])]


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("The camel is a large mammal with one or two humps on its back.", "verbatim"),
        ("Camels are large mammals; on their backs are humps.", "supported"),
        ("A bull weighs 1000 kilograms.", "supported"),  # the separator and the unit's spelling aside
        ("In May 1856, Ada Brandt brought camels to Texas.", "supported"),
        ("A bull weighs up to 1,270 kg.", "partly"),
        ("A bull weighs 1,000 lb.", "partly"),  # another unit
        ("Ada Brandt brought 34 camels to Nevada on 14 May 1856.", "partly"),
        ("Ada Brandt brought 34 camels to Texas on 14 June 1856.", "partly"),
        ("Ada Brandt brought 34 camels to Texas in 1866.", "partly"),  # the year of what is said beside it
        ("It stores water in its humps.", "partly"),
        ("The camel is not a large mammal.", "partly"),
        ("The Bactrian camel has two humps.", "supported"),  # a row of a table
        ("Violins are tuned in fifths.", "not found"),
    ],
)
def test_verdicts(sentence, verdict):
    found = verdicts(sentence)[0]
    assert found == verdict or (verdict == "partly" and found == "not found"), found


def test_what_is_missing_is_named():
    (found,) = check("A bull weighs up to 1,270 kg.", [CAMEL])
    assert (found.verdict, found.missing) == ("partly", ("1,270 kg",))
    assert found.passage == "A grown bull weighs up to 1,000 kg (2,200 lb)."
    assert (found.article, found.section, found.source) == ("Camel", "", "x.zim/Camel")
    assert verdict_words(found) == "partly in Camel, which lacks: 1,270 kg"


def test_the_passage_is_found_with_its_section():
    (found,) = check("Ada Brandt brought camels to Texas.", [CAMEL])
    assert (found.section, found.passage) == ("History", "Ada Brandt brought 34 camels to Texas on 14 May 1856.")


@pytest.mark.parametrize(
    "answer",
    [
        'The article says: "The camel stores pure water in both of its humps."',
        "As it has it, “a large mammal with four humps on its back” is a camel.",
        "> The camel is a large mammal with three humps.",
    ],
)
def test_a_quotation_that_stands_nowhere_is_flagged(answer):
    (found,) = check(answer, [CAMEL])
    assert found.verdict == "not found"
    assert found.misquoted
    assert "nothing that was read says" in verdict_words(found)


@pytest.mark.parametrize(
    "answer",
    [
        'It is "a large mammal with  one or two humps".',
        "> A grown bull weighs up to 1000 kg",
        "It is “a large mammal … humps on its back”.",
    ],
)
def test_a_quotation_that_stands_in_the_text_is_verbatim(answer):
    assert verdicts(answer) == ["verbatim"]


def test_sentences_that_claim_nothing_carry_no_verdict():
    answer = "Sure! Based on the article:\n\n# Camels\n\nWould you like to know more?\n\n> — Camel\n\n```\nx = 1\n```\n"
    assert set(verdicts(answer)) <= {None}
    assert summary(check(answer, [CAMEL])) == ""


@pytest.mark.parametrize(
    ("text", "true", "false"),
    [
        ("東京は日本の首都です。人口は1400万人です。", "日本の首都は東京です。", "日本の首都は大阪城です。"),
        (
            "Die Ratte bewohnt die Stadt und frisst Getreide.",
            "Ratten bewohnen Städte.",
            "Ratten bauen Uhren.",
        ),
        ("Москва является столицей России с 1918 года.", "Столица России Москва.", "Столица Франции Париж."),
        ("La récompense était de 1 500 francs.", "La recompense etait de 1500 francs.", "Elle coûtait 80 marks."),
    ],
)
def test_other_languages(text, true, false):
    source = ReadResult(f"Article: X\n\n{text}", "X", "a.zim/X")
    assert verdicts(true, source)[0] in ("verbatim", "supported")
    assert verdicts(false, source)[0] in ("partly", "not found")


def test_nothing_was_read():
    assert [each.verdict for each in check("Rats are rodents.", [])] == ["not found"]
    assert check("", [CAMEL]) == []


def test_numbers_are_values_with_units():
    assert numbers("2.5 million people")[0].values >= {"2500000"}
    assert numbers("1\u202f270 km")[0].values == {"1270"}
    assert [number.unit for number in numbers("from 3 to 4 metres")] == ["m", "m"]


def test_the_invented_quotation_of_the_demonstration():
    """The model "quotes" a sentence about the American bison as if from the article, which does not have it."""
    quotation = "The largest living land mammal in North America is the American bison"
    answer = f'According to the article: "{quotation}." It weighs up to about 1,000 kg.'
    with Library.open(archive_path(), build="wait") as library:
        source = library.read("Largest mammals")
        bison = library.read("American bison")
    found = [each for each in check(answer, [source, bison]) if each.verdict]
    assert found[0].verdict == "not found"
    assert found[0].misquoted.startswith(quotation)
    assert found[1].verdict in ("verbatim", "supported")


# Where it shows


ANSWER = "Camels are mammals with humps.\n\nA bull weighs 1,270 kg."


def test_citations_are_numbered_in_order_of_first_use_and_survive_export():
    ozone = ReadResult("Article: Ozone\n\nOzone is a pale blue gas.", "Ozone", "x.zim/Ozone")
    answer = "Ozone is a pale blue gas. Camels are large mammals. Ozone is blue."
    found = check(answer, [CAMEL, ozone])
    assert [mark(each, citations(found)) for each in found] == ["[1]", "[2]", "[1]"]
    exported = cited(answer, found)
    assert exported == f"{answer[:25]} [1] Camels are large mammals. [2] Ozone is blue. [1]\n\n[1] Ozone\n[2] Camel"
    assert summary(found) == "3 of 3 sentences found in Ozone, Camel"


def test_a_kept_conversation_keeps_its_evidence():
    panel = Panel("answer", "answer-1", body=ANSWER, state="done", evidence=tuple(check(ANSWER, [CAMEL])))
    turn = Turn("What is a camel?", [], [panel])
    restored = from_json(to_json("", [turn]))[1]
    assert [each.verdict for each in restored[0].panels[0].evidence] == ["supported", "partly"]
    assert "Camels are mammals with humps. [1]" in to_markdown(restored)
    assert "[1] Camel" in to_markdown(restored)


def test_marks_on_the_page_open_the_passage():
    panel = Panel("answer", "answer-1", body=ANSWER, state="done", evidence=tuple(check(ANSWER, [CAMEL])))
    shown = marked(panel)
    assert "humps.\N{NO-BREAK SPACE}[&#91;1&#93;](archive/x.zim/Camel?read=The+camel+is+a+large+mammal" in shown
    assert "1,270 kg.\N{NO-BREAK SPACE}[&#91;?&#93;](archive/x.zim/Camel?read=A+grown+bull" in shown


def read_article(title: str, *, context=None) -> str:
    """read a wikipedia article"""
    context.sources.append(CAMEL)
    return CAMEL.text


def test_the_event_comes_before_the_end_and_counts_what_was_read_before():
    replies = [call("read_article", {"title": "Camel"}), say(ANSWER), say("It can drink 113 litres.")]
    with ScriptedServer(replies) as server:
        agent = Agent(ChatClient(server.base_url), [read_article], mode="tools")
        *_, evidence, finished = agent.run("What is a camel?")
        *_, later, _ = agent.run("How much does it drink?", finished.messages)
    assert isinstance(evidence, Evidence)
    assert isinstance(finished, RunFinished)
    assert [each.verdict for each in evidence.sentences] == ["supported", "partly"]
    assert [each.verdict for each in later.sentences] == ["verbatim"]
    assert later.sentences[0].article == "Camel"


def test_lists_of_titles_are_not_what_was_read():
    told = [{"role": "tool", "content": text} for text in ("Article not found. Related articles:\nCamel", "Error: no")]
    assert read_before(told, [], []) == []


@pytest.mark.parametrize(
    ("answer", "status", "summarised"),
    [
        ("The bison is the largest land mammal of North America. A big bull weighs up to 4,321 kg.", 0, "1 of 2"),
        ("A big bull weighs up to 4,321 kg.", 3, "0 of 1"),
    ],
)
def test_ask_check_prints_it_and_exits_3_when_nothing_is_supported(answer, status, summarised, capsys):
    replies = [call("read_article", {"title": "American bison"}), say(answer)]
    with ScriptedServer(replies * 2, routes={"GET /props": llamacpp_props(tools=True)}) as server:
        options = ["--zim", str(archive_path()), "--endpoint", server.base_url, "How big is it?"]
        assert main(["ask", "--check", *options]) == status
        printed = capsys.readouterr().out
        assert main(["ask", "--check", "--json", *options]) == status
    assert f"{summarised} sentence" in printed
    assert "which lacks: 4,321 kg" in printed
    told = json.loads(capsys.readouterr().out)
    assert told["answer"] == answer
    assert told["sources"] == [{"title": "American bison", "source": f"{archive_path().name}/American_bison"}]
    assert told["sentences"][-1]["missing"] == ["4,321 kg"]


# Hostile text


HOSTILE = st.text(alphabet=string.printable + "“”«»「」…—\u2063\u202e\x00東京не", max_size=300)


@settings(max_examples=150, deadline=None)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_any_text_is_taken(answer, text, title):
    source = ReadResult(f"Article: {title}\n\n{text}", title, "x.zim/X", quotes=())
    found = check(answer, [source])
    for each in found:
        assert answer[each.start : each.end] == each.sentence
        assert 0 <= each.score <= 1
        assert (each.verdict is None) <= (each.passage == "")
    panel = Panel("answer", "answer-1", body=answer, state="done", evidence=tuple(found))
    shown = marked(panel)
    assert "![" not in shown.replace("!&#91;", "")
    assert cited(answer, found).startswith(answer[: found[0].end] if found else answer.rstrip())


@settings(max_examples=100, deadline=None)
@given(HOSTILE)
def test_a_text_supports_itself(text):
    source = ReadResult(f"Article: X\n\n{text}", "X", "x.zim/X")
    for said in split(text):
        if said.claims and not said.quoted and said.text in text.split("\n"):
            assert isinstance(check(said.text, [source])[0], SentenceEvidence)


@pytest.mark.parametrize("repeated", ['"', "> ", "1,", "1 000", "(", "a. ", "[", "“a b c d", "*", "not "])
def test_long_hostile_answers_end(repeated):
    answer = repeated * 10_000
    check(answer, [ReadResult("Article: X\n\n" + answer, "X", "x.zim/X")])
