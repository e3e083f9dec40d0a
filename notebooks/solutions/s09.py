# Solutions to 09_experiments

import sys

sys.path.insert(0, "..")

from support import check

from benchmarks.squad import wilson

# 1. In the notebook:
#
#    some = runs[(runs["mode"] == "given") & (runs["model"] == runs["model"].iloc[0])]
#    mean = some.groupby("budget")["tokens"].mean()
#    difference = mean[400] - mean[100]


# 2. Try them in order. Half of an odd number is rounded down, which makes no difference that matters.
def needed(half_width):
    n = 2
    while True:
        low, high = wilson(n // 2, n)
        if (high - low) / 2 <= half_width:
            return n
        n += 2


assert check(needed, lambda f: f(0.1) in range(88, 98) and f(0.05) in range(375, 390))
