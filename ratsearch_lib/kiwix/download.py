"""Getting an archive, and what older editions of it are there."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from ..fetch import Progress, fetch_whole, open_client
from .catalogue import DATED, CatalogueEntry, source

log = logging.getLogger(__name__)


def download(
    entry: CatalogueEntry, folder: str | Path = ".", *, replace: bool = False, progress: Progress | None = None
) -> Path:
    """The archive of `entry` in `folder`, downloaded if it is not there; its SHA-256 is the published one.

    replace   remove older editions of it, and their indexes, once it is there
    progress  called with (bytes there, bytes in all)

    DownloadError says what went wrong. What came in is kept as ``FILE.zim.part``, and the next call goes on from there;
    from the last sound piece, where what came in is damaged.
    """
    folder = Path(folder)
    with open_client() as client:
        wanted = source(client, entry)
        path = folder / wanted.name
        if not (path.is_file() and path.stat().st_size == wanted.size_bytes):
            fetch_whole(client, wanted, path, progress)
    if replace:
        for old in older_editions(path):
            _remove(old)
    return path


def older_editions(path: Path) -> list[Path]:
    """The archives beside `path` that are earlier editions of it.

    >>> older_editions(Path("wikipedia_en_all_nopic_2026-01.zim"))                          # doctest: +SKIP
    [PosixPath('wikipedia_en_all_nopic_2025-08.zim')]
    """
    this = DATED.fullmatch(path.stem)
    if this is None:
        return []
    others = ((other, DATED.fullmatch(other.stem)) for other in sorted(path.parent.glob("*.zim")))
    return [other for other, its in others if its and its["name"] == this["name"] and its["date"] < this["date"]]


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        log.warning("%s cannot be removed: %s", path, error)
        return
    shutil.rmtree(path.with_name(f"{path.name}.ratsearch"), ignore_errors=True)
