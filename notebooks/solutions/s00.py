# Solutions to 00_quickstart

import sys

sys.path.insert(0, "..")

from support import check, open_library

library = open_library()

# 1. The redirect "Mount McKinley" leads to the mountain's present name.
assert check("Denali", lambda t: library.read("Mount McKinley").title == t)

# 2. One letter wrong, and no other title comes near: it is read without asking.
assert check("Denalli", lambda t: t != "Denali" and library.read(t).title == "Denali")
