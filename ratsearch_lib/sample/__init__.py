"""A small encyclopedia written for this project: the archive that ratsearch reads when it is given no other.

Its sources (`pages/*.html`, `redirects.tsv`, `navboxes.tsv`) are built into a real ZIM file on first use, with the
markup of Wikipedia's archives (`page.py` says how a source is written).
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..cache import cache_folder
from ..errors import ArchiveError

SOURCES = Path(__file__).parent
SOURCE_SUFFIXES = {".html", ".tsv", ".css", ".png", ".py"}


def archive_path(progress: Callable[[int, int | None], None] | None = None) -> Path:
    """The sample's ZIM file in the user's cache, built if it is not there yet (about a second).

    The file's name holds a hash of the sources, so an edited source gives a new archive. Raises ArchiveError when
    the sources cannot be read or the cache cannot be written.

    >>> archive_path().suffix
    '.zim'
    """
    try:
        path = cache_folder("sample") / f"ratsearch-sample-{_fingerprint()}.zim"
        if not path.exists():
            _build(path, progress)
    except OSError as error:
        raise ArchiveError(
            f"The sample encyclopedia could not be built: {error}. Name another archive with --zim, "
            "or see that the cache folder can be written."
        ) from error
    return path


def questions() -> list[str]:
    """Four questions that the sample can answer."""
    return [
        "What's the largest mammal in North America?",
        "When was Emmy Noether born?",
        "How fast is light in a vacuum?",
        "How tall is Denali?",
    ]


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for file in sorted(SOURCES.rglob("*")):
        if file.suffix in SOURCE_SUFFIXES:
            digest.update(file.relative_to(SOURCES).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _build(path: Path, progress: Callable[[int, int | None], None] | None) -> None:
    """Build in a folder of this process's own beside `path`, then move: whoever comes second changes nothing.

    A child process writes the archive, see build.py.
    """
    with tempfile.TemporaryDirectory(prefix=".building-", dir=path.parent, ignore_cleanup_errors=True) as folder:
        unfinished = Path(folder) / path.name
        with subprocess.Popen(
            [sys.executable, "-m", "ratsearch_lib.sample.build", str(unfinished)],
            cwd=SOURCES.parent.parent,  # where `-m` finds the package, installed or not
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        ) as child:
            for line in child.stdout:
                if progress and line.startswith("progress "):
                    progress(*map(int, line.split()[1:3]))
            trouble = child.stderr.read().strip()
        if child.returncode:
            raise OSError(trouble.splitlines()[-1] if trouble else f"the writer ended with status {child.returncode}")
        with unfinished.open("r+b") as file:
            os.fsync(file.fileno())
        if not path.exists():
            os.replace(unfinished, path)
