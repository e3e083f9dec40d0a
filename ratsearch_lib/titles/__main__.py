"""`python -m ratsearch_lib.titles ARCHIVE [FOLDER]`: builds the title index, for `BackgroundBuild`.

Reports progress on standard output, a line of JSON each time: {"done": 5000, "total": 190000}, or {"error": "…"}.
Ends when its standard input does, that is, when the process that wanted the index is gone.
"""

from __future__ import annotations

import json
import os
import sys
import threading

from ..archive import Archive
from ..errors import RatsearchError
from . import TitleIndex


def report(**values: object) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def end_with_standard_input() -> None:
    while os.read(0, 1024):
        pass
    os._exit(1)  # at once: whatever is half written is never opened


def main(archive: str, path: str | None = None) -> int:
    threading.Thread(target=end_with_standard_input, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(10)  # questions come first
    try:
        TitleIndex.build(
            Archive(archive), path=path, progress=lambda done, total: report(done=done, total=total)
        ).close()
    except RatsearchError as error:
        report(error=str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
