"""Where an index is kept, and how it is written so that nobody ever opens half of one.

FILE.zim.ratsearch/          beside the archive, else in the user's cache folder
    lock                     held while building: a second builder waits for the first
    titles.building/         being written; left over after a kill, removed by the next builder
    titles/                  whole: it got this name when everything was on disk
        about.json           of which archive, by which version
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..cache import cache_folder
from ..errors import TitleIndexError
from .normalise import NORMALISER_VERSION

if TYPE_CHECKING:
    from ..archive import Archive

log = logging.getLogger(__name__)

FORMAT_VERSION = 3  # of the files of an index
ABOUT = "about.json"
Index = TypeVar("Index")


@dataclass(frozen=True, slots=True)
class About:
    """What an index was made of: it fits only the same archive, read by the same version."""

    uuid: str  # "" for pairs
    entry_count: int
    normaliser: int = NORMALISER_VERSION
    format: int = FORMAT_VERSION

    @classmethod
    def of(cls, archive: Archive) -> About:
        return cls(archive.uuid, archive.entry_count)

    @classmethod
    def read(cls, folder: Path) -> About:
        """TitleIndexError when there is no whole index in the folder: no description, or files of other sizes."""
        try:
            about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            if about.pop("sizes") != _sizes(folder):
                raise TitleIndexError(f"The title index in {folder.parent} is damaged; build it again.")
            return cls(**about)
        except FileNotFoundError as error:
            raise TitleIndexError(f"There is no title index in {folder.parent}; build it first.") from error
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise TitleIndexError(
                f"The title index in {folder.parent} cannot be read ({error}); build it again."
            ) from error

    def write(self, folder: Path) -> None:
        with open(folder / ABOUT, "w", encoding="utf-8") as file:
            json.dump({**asdict(self), "sizes": _sizes(folder)}, file)
            file.flush()
            os.fsync(file.fileno())


def _sizes(folder: Path) -> dict[str, int]:
    """The size in bytes of each file of an index but its description; not of tantivy's locks."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ABOUT)
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files if path.name[0] != "."}


def places(archive: Archive) -> list[Path]:
    """Where the archive's index may be, the first choice first."""
    name = archive.path.name
    beside = archive.path.parent / f"{name}.ratsearch"
    return [beside, cache_folder("titles") / f"{archive.uuid}-{archive.path.stem}"]


def writable_place(archive: Archive) -> Path:
    """The first of `places` that can be written."""
    beside, cached = places(archive)
    try:
        beside.mkdir(exist_ok=True)
        (beside / "lock").touch()
        return beside
    except OSError as error:
        log.info("%s cannot be written (%s): the title index goes to %s", beside, error, cached)
    return cached


@contextmanager
def building(place: Path, about: About) -> Iterator[Path | None]:
    """An empty folder to write an index in; it takes the old one's place when the block ends without an error.

    None when somebody else finished the same index while this waited for the lock.
    """
    final, unfinished, old = place / "titles", place / "titles.building", place / "titles.old"
    with _locked(place):
        if about.uuid and is_whole(final, about):
            yield None
            return
        try:
            for leftover in (unfinished, old):
                shutil.rmtree(leftover, ignore_errors=True)
            unfinished.mkdir()
            yield unfinished
            about.write(unfinished)
            if final.exists():
                final.rename(old)
            unfinished.rename(final)
        except OSError as error:
            raise TitleIndexError(
                f"The title index cannot be written to {place} ({error}). Free some space, or make the folder writable."
            ) from error
        finally:
            for leftover in (unfinished, old):
                shutil.rmtree(leftover, ignore_errors=True)


def build_and_open(place: Path, about: About, write: Callable[[Path], None], opened: Callable[[], Index]) -> Index:
    """What `opened` opens, written by `write` if it is not there; an index that only looks whole is written anew."""
    with building(place, about) as folder:
        if folder is not None:
            write(folder)
    try:
        return opened()
    except TitleIndexError as error:
        if folder is not None:  # just written: again would be no better
            raise
        log.warning("%s", error)
    with _locked(place):
        shutil.rmtree(place / "titles", ignore_errors=True)
    return build_and_open(place, about, write, opened)


def is_whole(folder: Path, about: About) -> bool:
    try:
        return About.read(folder) == about
    except TitleIndexError:
        return False


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    """One builder at a time. The system gives the lock back when its holder ends, however it ends."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        file = (place / "lock").open("a+b")
    except OSError as error:
        raise TitleIndexError(f"The title index cannot be written to {place} ({error}).") from error
    with file:
        if os.name == "nt":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
