"""`python -m ratsearch_lib` is `ratsearch`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
