"""`ratsearch index`: builds the indexes of an archive now, so that nothing has to wait for them later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .options import Options, Report
from .progress import progress_bar
from .screen import Screen

if TYPE_CHECKING:
    from ..archive import Archive
    from ..leads import LeadIndex
    from ..titles import TitleIndex


def index(options: Options, out: Screen, report: Report, *, leads: bool) -> int:
    """Build the title index, and with `leads` that of first paragraphs; say where each is kept and how big it is.

    One that is there and fits is left as it is. Ctrl-C stops: what was finished stays, what was not is removed.
    """
    from ..archive import Archive
    from ..leads import LeadIndex
    from ..titles import TitleIndex

    paths = [options.zim, *options.more_zims] if options.zim else []
    if not paths:
        from ..sample import archive_path

        with progress_bar("Writing the sample encyclopedia", report) as progress:
            paths = [archive_path(progress)]
    for error in options.zim_errors:
        report(error)
    try:
        for archive in map(Archive, paths):
            _build(archive, TitleIndex, "titles", "titles", out, report)
            if leads:
                _build(archive, LeadIndex, "leads", "first paragraphs", out, report)
    except KeyboardInterrupt:
        report("Stopped; what was unfinished is removed. The same command starts it afresh.")
        raise
    return 1 if options.zim_errors else 0


def _build(
    archive: Archive, kind: type[TitleIndex] | type[LeadIndex], folder: str, what: str, out: Screen, report: Report
) -> None:
    with (
        progress_bar(f"Indexing the {what} of {archive.path.name}", report, unit="entries") as progress,
        kind.build(archive, progress=progress) as built,
    ):
        count = len(built)
        place = built.path / folder
    out.line(f"{count:,} {what}: {place} ({_size(place)})")


def _size(folder: Path) -> str:
    size_bytes = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return f"{size_bytes / 1e6:,.1f} MB" if size_bytes >= 1e6 else f"{size_bytes / 1e3:.0f} kB"
