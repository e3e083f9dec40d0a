# Solutions to 07_subagents

import sys
from collections import Counter

sys.path.insert(0, "..")

from support import check

# 1. Each time one of 101 replies is right: a hundred titles, and NOTHING.
assert check(round(6 / 101, 2), lambda x: abs(x - 6 / 101) < 0.005)


# 2. A Counter has the answer; of equals it takes the first.
def vote(texts):
    counted = Counter(text for text in texts if text != "NOTHING")
    return counted.most_common(1)[0][0] if counted else None


assert check(vote, lambda f: f(["a", "NOTHING", "b", "a", "NOTHING", "NOTHING"]) == "a" and f(["NOTHING"]) is None)
