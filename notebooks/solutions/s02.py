# Solutions to 02_titles

import re
import sys
import unicodedata

sys.path.insert(0, "..")

from rapidfuzz import fuzz
from support import check, open_library

library = open_library()
titles = [entry.title for entry in library.archive.entries()]
titles_index = library.titles


def plain(title):
    letters = unicodedata.normalize("NFKD", title).casefold()
    return " ".join(re.findall(r"\w+", "".join(c for c in letters if not unicodedata.combining(c))))


def likeness(query, title):
    asked, there = plain(query).split(), plain(title).split()
    best = [max((fuzz.ratio(word, other) for other in there), default=0) / 100 for word in asked]
    return 2 * sum(each for each in best if each >= 0.75) / (len(asked) + len(there))


def search(query, n=3):
    return sorted(titles, key=lambda title: likeness(query, title), reverse=True)[:n]


# 1. Each half is too unlike the whole; the index also tries neighbouring words written as one.
assert check(
    "Yellow stone",
    lambda q: "Yellowstone" not in search(q)[0] and titles_index.search(q)[0].title == "Yellowstone National Park",
)


# 2. Initials of the words that carry the title.
def acronym(query, title):
    small = {"of", "the", "and", "in"}
    return query.lower() == "".join(word[0] for word in title.lower().split() if word not in small)


title = "List of mammals of North America"
assert check(acronym, lambda f: f("YNP", "Yellowstone National Park") and f("lmna", title) and not f("lm", title))
