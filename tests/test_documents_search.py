"""Ranking: BM25 worked out by hand, and the same by two other implementations; snippets; scripts and languages."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratsearch_lib.documents import DocumentStore
from ratsearch_lib.documents.search import parse
from ratsearch_lib.documents.snippet import snippet
from ratsearch_lib.text import tokens


def store_of(folder, texts: dict[str, str], **options) -> DocumentStore:
    files = folder / "files"
    for name, text in texts.items():
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        (files / name).write_text(text, encoding="utf-8")
    store = DocumentStore(folder / "rag.db")
    store.index(files, **options)
    return store


class TestFormula:
    def test_by_hand(self, tmp_path):
        """Three documents of 4, 2 and 3 words, average 3. "owl" is in two of them: idf = ln(1 + 1.5 / 2.5) = 0.47000.

        In a: f = 2, 2 · 2.5 / (2 + 1.5 · (0.25 + 0.75 · 4/3)) = 5 / 3.875 = 1.29032 → 0.60646
        In b: f = 1, 1 · 2.5 / (1 + 1.5 · (0.25 + 0.75 · 2/3)) = 2.5 / 2.125 = 1.17647 → 0.55295
        """
        store = store_of(tmp_path, {"a": "owl owl fox hen", "b": "owl pig", "c": "cow yak emu"})
        found = store.search("owl")
        assert [(each.title, round(each.score, 4)) for each in found] == [("a", 0.6065), ("b", 0.5529)]
        assert math.isclose(found[0].score, math.log(1.6) * 5 / 3.875)

    def test_a_word_twice_in_the_query_counts_twice(self, tmp_path):
        store = store_of(tmp_path, {"a": "owl fox", "b": "cow yak"})
        assert math.isclose(store.search("owl owl")[0].score, 2 * store.search("owl")[0].score)

    def test_as_rank_bm25_and_bm25s(self, data, tmp_path):
        """Both on Cranfield; rank-bm25 with the same idf, bm25s without the constant k1 + 1."""
        import json

        rank_bm25 = pytest.importorskip("rank_bm25")
        bm25s = pytest.importorskip("bm25s")
        texts = [each["text"] for each in json.loads((data / "judged/cranfield/docs.json").read_text())[:300]]
        texts = list(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip()))
        store = store_of(tmp_path, {f"{n:04}.txt": text for n, text in enumerate(texts)}, chunk_size=5000)
        corpus = [tokens(text) for text in texts]
        other = rank_bm25.BM25Okapi(corpus, k1=1.5, b=0.75)
        other.idf = {
            word: math.log(1 + (len(corpus) - n + 0.5) / (n + 0.5))
            for word in other.idf
            if (n := sum(word in document for document in corpus))
        }
        third = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        third.index(corpus, show_progress=False)
        for query in ("wing slipstream", "boundary layer flow past a flat plate", "heat transfer", "supersonic jet"):
            asked = [word for (word,) in parse(query).weights]
            found = {int(each.title[:4]): each.score for each in store.search(query, k=20)}
            expected = other.get_scores(asked)
            third_scores = third.get_scores(asked) * 2.5
            assert len(found) == 20
            assert np.allclose(sorted(found.values()), np.sort(expected)[-20:])
            for number, score in found.items():
                assert math.isclose(score, expected[number], rel_tol=1e-9)
                assert math.isclose(score, third_scores[number], rel_tol=1e-4)  # it has 32 bits

    @settings(max_examples=25)
    @given(st.lists(st.text("ab c", min_size=1, max_size=12).filter(str.strip), min_size=1, max_size=8, unique=True))
    def test_every_ranking_is_by_the_formula(self, tmp_path_factory, texts):
        texts = list(dict.fromkeys(text.strip("\n").rstrip() for text in texts))
        store = store_of(tmp_path_factory.mktemp("store"), {str(n): text for n, text in enumerate(texts)})
        corpus = [tokens(text) for text in texts]
        average = sum(map(len, corpus)) / len(corpus)
        expected = []
        for number, words in enumerate(corpus):
            score = 0.0
            for word in ("ab", "b"):
                holding = sum(word in document for document in corpus)
                f = words.count(word)
                idf = math.log(1 + (len(corpus) - holding + 0.5) / (holding + 0.5))
                score += idf * f * 2.5 / (f + 1.5 * (0.25 + 0.75 * len(words) / average))
            if score:
                expected.append((-score, number))
        found = [(-each.score, int(each.title)) for each in store.search("ab b", k=20)]
        assert sorted(round(score, 9) for score, _ in found) == sorted(round(score, 9) for score, _ in expected)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return store_of(
        tmp_path_factory.mktemp("texts"),
        {
            "hamlet.txt": "To be, or not to be, that is the question.",
            "r.txt": "R is a language for statistics.",
            "fr.txt": "La récompense de l'élève est grande, et elle est pour tous les élèves.",
            "de.txt": "Die Säugetiere sind eine Klasse der Wirbeltiere, und der Mensch ist auch ein Säugetier.",
            "ru.txt": "Крысы живут рядом с человеком уже много веков.",
            "zh.txt": "東京都是日本的首都。",
            "th.txt": "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย",
            "ar.txt": "القاهرة عاصمة جمهورية مصر العربية وأكبر مدنها",
        },
    )


class TestQueries:
    @pytest.mark.parametrize(
        ("query", "title"),
        [
            ("to be or not to be", "hamlet.txt"),
            ("R", "r.txt"),
            ("recompense", "fr.txt"),
            ("RÉCOMPENSE", "fr.txt"),
            ("Säugetier", "de.txt"),
            ("saugetiere", "de.txt"),
            ("крыса", "ru.txt"),
            ("首都", "zh.txt"),
            ("กรุงเทพ", "th.txt"),
            ("عاصمة مصر", "ar.txt"),
        ],
    )
    def test_finds(self, store, query, title):
        assert store.search(query)[0].title == title

    @pytest.mark.parametrize("query", ["", "  ", "!?", "zzzz", "\0", '" OR 1=1 --', "a" * 100_000, "Ⱥ", "\ud800"])
    def test_no_query_is_too_odd(self, store, query):
        assert isinstance(store.search(query), list)

    def test_ties_are_in_order_of_path(self, tmp_path):
        store = store_of(tmp_path, {f"{name}.txt": f"owl {name}" for name in ("dd", "aa", "cc", "bb")})
        (tmp_path / "files/aa.txt").write_text("owl  aa")  # read again, so newer than the others
        store.index(tmp_path / "files")
        assert [each.title for each in store.search("owl", k=3)] == ["aa.txt", "bb.txt", "cc.txt"]

    def test_equal_texts_come_once(self, tmp_path):
        store = store_of(tmp_path, {"a/x.txt": "An owl.", "b/y.txt": "An owl.", "c.txt": "A fox."})
        (found,) = store.search("owl")
        assert found.title == "x.txt"
        assert [place.rpartition("/")[2] for place in store.get(found.id).also_in] == ["y.txt#0"]
        assert store.stats().total_chunks == 2
        assert store.stats().unique_files == 3


class TestSnippet:
    def test_is_where_the_words_stand_together(self):
        text = "An owl. " + "Nothing here. " * 60 + "The owl eats a fox there. " + "Nothing at all. " * 60
        shown = snippet(text, frozenset(tokens("owl fox")))
        assert "owl eats a fox" in shown
        assert shown.startswith("…")
        assert shown.endswith("…")
        assert len(shown) <= 302

    def test_words_are_whole(self):
        text = " ".join(f"word{n}" for n in range(500))
        shown = snippet(text, frozenset({"word250"})).strip("…").split()
        assert set(shown) <= set(text.split())
        assert "word250" in shown

    def test_short_text_is_shown_whole(self):
        assert snippet("An owl\n\neats.", frozenset({"fox"})) == "An owl eats."

    @given(st.text(max_size=900), st.text(max_size=20))
    def test_any_text(self, text, query):
        assert len(snippet(text, frozenset(tokens(query)), "", 100)) <= 102
