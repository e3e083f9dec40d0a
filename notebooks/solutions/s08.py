# Solutions to 08_your_documents

import sys
from math import log

sys.path.insert(0, "..")

from support import check

from ratsearch_lib.text import tokens

documents = {
    "cheese.txt": "The rat steals cheese at night.",
    "trap.txt": "The trap waits for the rat. A trap needs cheese.",
    "cat.txt": "The cat sleeps.",
    "moon.txt": "The moon is not made of cheese.",
    "ship.txt": "A rat leaves the sinking ship first, then the rat swims.",
}
terms = {name: tokens(text) for name, text in documents.items()}
k1 = 1.5

# 1. f (k1 + 1) / (f + k1) comes as near to k1 + 1 as one likes.
assert check(k1 + 1, lambda x: abs(x - 2.5) < 1e-9)


def weight(term):
    df = sum(term in each for each in terms.values())
    return log(1 + (len(terms) - df + 0.5) / (df + 0.5))


# 2. With b = 0 all documents are of average length. "ship.txt" gains, and stays behind: it has no cheese.
def score_without_length(query, name):
    total = 0.0
    for term in tokens(query):
        f = terms[name].count(term)
        total += weight(term) * f * (k1 + 1) / (f + k1)
    return total


assert check(score_without_length, lambda f: abs(f("rat", "ship.txt") - weight("rat") * 5 / 3.5) < 1e-9)
print({name: round(score_without_length("rat cheese", name), 3) for name in documents})
