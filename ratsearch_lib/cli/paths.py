"""Which archives are meant, and whether files that options name are there."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ..errors import ArchiveError, RatsearchError


def choose_archives(given: Sequence[str] | None, named: str | None, folder: Path) -> tuple[list[Path], str, list[str]]:
    """The archives, none for the sample; why these; and why not those of several that cannot be read."""
    if not given and named and os.pathsep in named and not is_file(Path(named)):
        asked, origin, reason = named.split(os.pathsep), "RATSEARCH_ZIM", "named by RATSEARCH_ZIM"
    else:
        asked, origin, reason = list(given or ()), "--zim", "given with --zim"
    if len(asked) < 2:
        path, reason = choose_archive(asked[0] if asked else None, named, folder)
        return [path] if path else [], reason, []
    found, errors = {}, []
    for text in asked:
        try:
            found[_archive_file(text, origin)] = None
        except ArchiveError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    return list(found), reason, [str(error) for error in errors]


def choose_archive(given: str | None, named: str | None, folder: Path) -> tuple[Path | None, str]:
    """The archive and why it was chosen; None is the sample. `given` by --zim, `named` by the environment."""
    if given:
        return _archive_file(given, "--zim"), "given with --zim"
    if named:
        return _archive_file(named, "RATSEARCH_ZIM"), "named by RATSEARCH_ZIM"
    try:
        found = archives_in(folder)
    except OSError as error:
        return None, f"this folder cannot be read ({error.strerror}): name one with --zim"
    for path in found:
        if path.stem == "wikipedia":
            return path, f"found as ./{path.name}"
    if len(found) == 1:
        return found[0], "the only archive in this folder"
    if found:
        return None, f"{len(found)} archives in this folder: choose with --zim"
    return None, "no archive in this folder: name one with --zim"


def archives_in(folder: Path) -> list[Path]:
    """Whole archives and the first parts of split ones. OSError if the folder cannot be read."""
    return sorted(path for path in folder.iterdir() if path.suffix in (".zim", ".zimaa") and is_file(path))


def _archive_file(text: str, origin: str) -> Path:
    path = path_of(text, origin, ArchiveError)
    if path.is_dir():
        try:
            inside = ", ".join(file.name for file in archives_in(path)[:5])
        except OSError as error:
            raise ArchiveError(f"{origin}: {path} is a folder that cannot be read ({error.strerror}).") from error
        hint = f"give one of its files: {inside}" if inside else "and there is no archive in it"
        raise ArchiveError(f"{origin}: {path} is a folder; {hint}.")
    if re.fullmatch(r"\.zim[a-z][a-z]", path.suffix) and path.suffix != ".zimaa":
        first = path.with_suffix(".zimaa").name
        raise ArchiveError(f"{origin}: {path} is one part of a split archive; give the first, {first}.")
    if is_file(path.with_name(path.name + "aa")):
        return path  # the common name of the parts
    return existing(path, origin, ArchiveError)


def path_of(text: str, origin: str, error: type[RatsearchError] = RatsearchError) -> Path:
    """`text` as a path with "~" expanded; `error` if the system will not even say whether anything is there."""
    try:
        path = Path(text).expanduser()
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, RuntimeError, ValueError) as problem:  # no such user, name too long, folder not to be entered, NUL
        reason = getattr(problem, "strerror", None) or str(problem).rstrip(".")
        raise error(f"{origin}: {text[:200]} cannot be opened: {reason}.") from problem
    return path


def is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def existing(path: Path, origin: str, error: type[RatsearchError] = RatsearchError) -> Path:
    if not is_file(path):
        raise error(f"{origin}: there is no file {path}.")
    return path


def there(path: Path, origin: str) -> Path:
    if not path.exists():
        raise RatsearchError(f"{origin}: there is no folder {path}.")
    return path
