"""Where the titles of an index are read, by their position in it.

Of an archive only the entries' numbers are kept: libzim reads a title in 4 µs. Pairs are kept as they came.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ArchiveError
from .files import Numbers, close_map, close_synced, map_file, write_synced
from .normalise import readable

if TYPE_CHECKING:
    from ..archive import Archive

log = logging.getLogger(__name__)

ENTRIES = "entries.bin"  # of an archive: uint32, entry number × 2, + 1 for a redirect
TITLES, OFFSETS, TARGETS = "titles.bin", "offsets.bin", "targets.bin"  # of pairs: UTF-8; uint64 ends; uint32 positions
MAX_CHAIN = 8  # redirects to redirects


class ArchiveTitles:
    """The titles of an archive's entries."""

    def __init__(self, folder: Path, archive: Archive):
        self._archive = archive
        self._entries = Numbers(folder / ENTRIES, "I")

    def __len__(self) -> int:
        return len(self._entries)

    def title(self, position: int) -> str:
        """ "" where the archive is damaged."""
        try:
            return readable(self._archive.title_by_id(self._entries[position] >> 1))
        except ArchiveError as error:
            log.info("%s", error)
            return ""

    def is_redirect(self, position: int) -> bool:
        return bool(self._entries[position] & 1)

    def target(self, position: int) -> tuple[str, str] | None:
        """Title and path of the article that this title leads to; None where it leads nowhere."""
        try:
            entry = self._archive.follow(self._archive.entry_by_id(self._entries[position] >> 1))
        except ArchiveError as error:
            log.info("%s", error)
            return None
        return readable(entry.title), entry.path

    def close(self) -> None:
        self._entries.close()


class StoredTitles:
    """The titles of pairs, kept beside the index. Their path is the title itself."""

    def __init__(self, folder: Path):
        self._text = map_file(folder / TITLES)
        self._ends = Numbers(folder / OFFSETS, "Q")
        self._targets = Numbers(folder / TARGETS, "I")

    def __len__(self) -> int:
        return len(self._ends)

    def title(self, position: int) -> str:
        start = self._ends[position - 1] if position else 0
        return self._text[start : self._ends[position]].decode()

    def is_redirect(self, position: int) -> bool:
        return self._targets[position] != position

    def target(self, position: int) -> tuple[str, str] | None:
        title = self.title(self._targets[position])
        return title, title

    def close(self) -> None:
        self._ends.close()
        self._targets.close()
        close_map(self._text)


class ArchiveTitlesWriter:
    def __init__(self, folder: Path):
        self._file = (folder / ENTRIES).open("wb")

    def extend(self, entries: Iterable[tuple[int, bool]]) -> None:
        """Numbers of entries, and whether each is a redirect."""
        self._file.write(array("I", [id << 1 | is_redirect for id, is_redirect in entries]).tobytes())

    def close(self) -> None:
        close_synced(self._file)


class StoredTitlesWriter:
    def __init__(self, folder: Path):
        self._folder = folder
        self._text = (folder / TITLES).open("wb")
        self._ends = array("Q")
        self._hashes = array("q")
        self._redirects = array("I")  # positions of redirects
        self._redirect_hashes = array("q")  # and what each leads to

    def extend(self, pairs: list[tuple[str, str | None]]) -> None:
        """Titles, and what each leads to, if it does."""
        for position, (title, target) in enumerate(pairs, len(self._ends)):
            if target is not None and target != title:
                self._redirects.append(position)
                self._redirect_hashes.append(hash(target))
        encoded = [title.encode("utf-8", "replace") for title, _ in pairs]
        self._text.write(b"".join(encoded))
        start = self._ends[-1] if self._ends else 0
        self._ends.extend(accumulate(map(len, encoded[1:]), initial=start + len(encoded[0])))
        self._hashes.extend([hash(title) for title, _ in pairs])

    def close(self) -> None:
        close_synced(self._text)
        write_synced(self._folder / OFFSETS, self._ends.tobytes())
        del self._ends[:]
        write_synced(self._folder / TARGETS, self._find_targets())

    def _find_targets(self) -> bytes:
        """The position that each title leads to: its own, unless it is a redirect.

        Targets are found by the 64-bit hashes of the titles: a dictionary of 20 million would take gigabytes.
        """
        import numpy as np

        hashes = np.frombuffer(self._hashes, dtype=np.int64)
        direct = np.arange(len(hashes), dtype=np.uint32)
        if not len(self._redirects):
            return direct.tobytes()
        order = np.argsort(hashes, kind="stable").astype(np.uint32)
        wanted = np.frombuffer(self._redirect_hashes, dtype=np.int64)
        redirects = np.frombuffer(self._redirects, dtype=np.uint32)
        places = np.minimum(np.searchsorted(hashes, wanted, sorter=order), len(hashes) - 1)
        found = order[places]
        exists = hashes[found] == wanted
        step = direct.copy()
        step[redirects[exists]] = found[exists]  # a redirect to nowhere stands for itself
        leads_to = step.copy()
        for _ in range(MAX_CHAIN):
            leads_to[redirects] = step[leads_to[redirects]]
        in_a_circle = redirects[step[leads_to[redirects]] != leads_to[redirects]]
        leads_to[in_a_circle] = in_a_circle
        return leads_to.tobytes()
