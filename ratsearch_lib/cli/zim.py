"""`ratsearch zim`: archives of the Kiwix library, and those that are here."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ArchiveError, RatsearchError
from .options import whole_number
from .progress import progress_bar

if TYPE_CHECKING:
    from ..archive import Archive
    from ..kiwix import Catalogue, CatalogueEntry
    from .options import Report
    from .screen import Screen

ASK_FROM_BYTES = 2_000_000_000
SHOWN = 40


def add_zim_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="zim_command", metavar="COMMAND", required=True)

    def add(name: str, summary: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=summary, description=summary)

    search = add("search", "list what the Kiwix library has: name, date, language, size, articles, title")
    search.add_argument("words", nargs="*", metavar="WORD", help="words of a title or description (none: everything)")
    search.add_argument("--lang", default="", metavar="CODE", help="a language: en, or eng")
    search.add_argument(
        "--limit",
        type=whole_number(1, "a whole number of at least 1"),
        default=SHOWN,
        metavar="N",
        help=f"how many at most ({SHOWN})",
    )
    search.add_argument("--json", action="store_true", help="print JSON")

    here = add("list", "list the archives in a folder")
    here.add_argument("folder", nargs="?", type=Path, default=Path(), help="the folder (this one)")
    here.add_argument("--json", action="store_true", help="print JSON")

    info = add("info", "print what an archive says of itself, and which indexes it has")
    info.add_argument("file", type=Path, metavar="FILE")
    info.add_argument("--verify", action="store_true", help="also compare all of it with the checksum in it")
    info.add_argument("--json", action="store_true", help="print JSON")

    get = add("get", "download an archive, or the rest of it, and verify it")
    get.add_argument("name", metavar="NAME", help="as `ratsearch zim search` names it; with a date, that edition")
    get.add_argument("--to", type=Path, default=Path(), metavar="FOLDER", help="where to (this folder)")
    get.add_argument("--replace", action="store_true", help="remove older editions of it in that folder afterwards")
    get.add_argument("--yes", "-y", action="store_true", help="do not ask, however large it is")
    parser.epilog = "$RATSEARCH_CATALOG names another catalogue than https://library.kiwix.org/catalog/v2."


def zim(args: argparse.Namespace, environ: Mapping[str, str], out: Screen, report: Report) -> int:
    """Exit status 1 if nothing was found."""
    match args.zim_command:
        case "search":
            return _search(catalogue(environ), args, out, report)
        case "list":
            return _list(args, out, report)
        case "info":
            return _info(args, out)
        case _:
            return _get(catalogue(environ), args, out, report)


def catalogue(environ: Mapping[str, str]) -> Catalogue:
    from ..kiwix import CATALOGUE_URL, Catalogue

    return Catalogue(environ.get("RATSEARCH_CATALOG") or CATALOGUE_URL)


def size(size_bytes: int) -> str:
    """
    >>> size(51_234_567_890), size(1_200_000), size(0)
    ('51.2 GB', '1.2 MB', '?')
    """
    if not size_bytes:
        return "?"
    return f"{size_bytes / 1e9:,.1f} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:,.1f} MB"


def _search(catalogue: Catalogue, args: argparse.Namespace, out: Screen, report: Report) -> int:
    found = catalogue.search(" ".join(args.words), language=args.lang, limit=args.limit)
    if args.json:
        from .commands import print_json

        print_json([_as_json(entry) for entry in found])
    for entry in () if args.json else sorted(found, key=lambda each: (each.name, each.date)):
        languages = ",".join(entry.languages[:3])
        out.line(
            f"{entry.name}  {entry.date}  {languages}  {size(entry.size_bytes)}  {entry.article_count:,} articles  "
            f"{entry.title}"
        )
    if not found:
        report("The catalogue has nothing like that: try fewer words, or another --lang.")
    elif len(found) == args.limit:
        report(f"(the first {args.limit}; --limit shows more)")
    return 0 if found else 1


def _as_json(entry: CatalogueEntry) -> dict[str, object]:
    fields = ("name", "date", "title", "summary", "languages", "size_bytes", "article_count", "url")
    return {field: getattr(entry, field) for field in fields}


def _list(args: argparse.Namespace, out: Screen, report: Report) -> int:
    from ..archive import Archive
    from .paths import archives_in

    try:
        paths = archives_in(args.folder)
    except OSError as error:
        raise RatsearchError(f"{args.folder} cannot be read: {error.strerror}.") from error
    found = []
    for path in paths:
        try:
            facts = _facts(Archive(path))
        except ArchiveError as error:
            report(str(error))
            continue
        found.append(facts)
        if not args.json:
            about = "  ".join(filter(None, (facts["date"], facts["language"], size(facts["size_bytes"]))))
            out.line(f"{path}  {about}  {facts['articles']:,} articles  {facts['title']}")
    if args.json:
        from .commands import print_json

        print_json(found)
    elif not paths:
        report(f"There is no archive in {args.folder.resolve()}: `ratsearch zim get NAME` downloads one.")
    return 0 if found else 1


def _info(args: argparse.Namespace, out: Screen) -> int:
    from ..archive import Archive

    archive = Archive(args.file)
    facts = _facts(archive)
    if args.verify:
        facts["checksum"] = "right" if archive.checksum_ok() else "wrong: download it again"
    if args.json:
        from .commands import print_json

        print_json(facts)
    else:
        for name, fact in facts.items():
            shown = f"{fact:,}" if type(fact) is int else ", ".join(fact) if isinstance(fact, list) else fact
            if shown:
                out.line(f"{name.replace('_', ' ')}: {shown}")
    return 1 if str(facts.get("checksum", "")).startswith("wrong") else 0


def _facts(archive: Archive) -> dict[str, object]:
    from ..errors import TitleIndexError
    from ..leads import LeadIndex
    from ..titles import TitleIndex

    indexes = ["the archive's own, of its texts"] if archive.has_fulltext_index else []
    for kind, what in ((TitleIndex, "titles"), (LeadIndex, "first paragraphs")):
        try:
            kind.open(archive).close()
            indexes.append(what)
        except TitleIndexError:
            continue
    about = archive.metadata
    parts = [archive.path] if archive.path.suffix == ".zim" and archive.path.is_file() else []
    parts = parts or sorted(archive.path.parent.glob(f"{archive.path.stem}.zim[a-z][a-z]"))
    return {
        "file": str(archive.path),
        "title": " ".join(archive.name.split()),
        "description": " ".join(about.get("Description", "").split()),
        "date": about.get("Date", "").strip(),
        "language": archive.language,
        "articles": archive.article_count,
        "size_bytes": sum(part.stat().st_size for part in parts),
        "creator": " ".join(about.get("Creator", "").split()),
        "licence": " ".join(about.get("License", "").split()),
        "indexes": indexes,
    }


def _get(catalogue: Catalogue, args: argparse.Namespace, out: Screen, report: Report) -> int:
    from ..kiwix import download, older_editions

    entry = catalogue.find(args.name)
    report(
        f"{entry.file_name}: {entry.title}, {entry.date}, {size(entry.size_bytes)}, {entry.article_count:,} articles"
    )
    path = args.to / entry.file_name
    may_ask = sys.stdin.isatty() and not args.yes and not path.exists()
    if may_ask and entry.size_bytes >= ASK_FROM_BYTES and not _agrees(report):
        return 1
    try:
        with progress_bar(f"Downloading {entry.file_name}", report, unit="bytes") as progress:
            path = download(entry, args.to, replace=args.replace, progress=progress)
    except KeyboardInterrupt:
        report("Stopped; what came in is kept. The same command goes on from there.")
        raise
    out.line(str(path))
    if older := older_editions(path):
        names = ", ".join(each.name for each in older)
        report(f"An older edition is still here: {names} (--replace removes it)")
    return 0


def _agrees(report: Report) -> bool:
    report("Download it? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
