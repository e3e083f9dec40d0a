# Solutions to 03_reading

import math
import re
import sys

sys.path.insert(0, "..")

from support import check, open_library

library = open_library()
article = library.article(library.archive.entry("List of mammals of North America"))


def is_enough(n):
    return "up to 3 m" in article.select("How long is the tusk of the narwhal?", max_chars=n)


# 1. Try them in order.
budget = next(n for n in range(100, 65_535, 100) if is_enough(n))
assert check(budget, lambda n: n % 100 == 0 and is_enough(n) and not any(map(is_enough, range(100, n, 100))))


# 2. A word that every paragraph holds tells nothing: log 1 = 0.
def rarity(word, paragraphs):
    holding = sum(word in re.findall(r"\w+", each.lower()) for each in paragraphs)
    return math.log(len(paragraphs) / holding) if holding else 0.0


assert check(
    rarity, lambda f: abs(f("rat", ["a rat", "a cow", "a sow", "a dog"]) - 1.386) < 0.001 and f("a", ["a"]) == 0
)
