# Solutions to 06_searching_challenges

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, "..")

from support import check, judged_queries, open_library

from benchmarks import titles as benchmark
from ratsearch_lib.xapian import search_text

library = open_library()
corpus = benchmark.load(judged_queries(Path(tempfile.mkdtemp()) / "data"), [])


# 1. Full text comes near: in three dozen articles nearly any word leads to the right page, unless it is misspelt.
def full_text(query):
    return [entry.title for entry in search_text(library.archive, query, 20)]


def read_article(query):
    return [match.title for match in library.titles.search(query)]


def mean_r20(find):
    sets = benchmark.measure(corpus, corpus.queries, find)["sets"].values()
    return sum(each["r20"] for each in sets) / len(sets)


shares = {"full text": mean_r20(full_text), "read_article": mean_r20(read_article)}
assert check(max(shares, key=shares.get), lambda method: method == "read_article")


# 2. Reciprocal rank fusion.
def fuse(first, second):
    scores = defaultdict(float)
    for ranking in (first, second):
        for rank, title in enumerate(ranking, 1):
            scores[title] += 1 / (60 + rank)
    return sorted(scores, key=scores.get, reverse=True)


assert check(fuse, lambda f: f(["a", "b"], ["b", "c"]) == ["b", "a", "c"] and f([], ["x"]) == ["x"])
# It beats both: what one misses, the other finds.
print(mean_r20(lambda query: fuse(full_text(query), read_article(query))[:20]))
