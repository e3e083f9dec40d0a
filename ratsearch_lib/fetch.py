"""A file got whole: resumed where it stopped, from one mirror after the other, and verified by its SHA-256."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

from .errors import DownloadError

if TYPE_CHECKING:
    import ssl

    import httpx2

log = logging.getLogger(__name__)

Progress = Callable[[int, "int | None"], None]

PART = ".part"
BLOCK_BYTES = 1 << 20
SPARE_BYTES = 100_000_000  # that are left free on the disk
MAX_MIRRORS = 8
TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Source:
    """What is to be downloaded: `size_bytes` exactly, with this SHA-256, from one of these addresses, best first.

    `pieces` are SHA-1 sums of `piece_bytes` each, where they are published. `headers` are sent with each request.
    """

    name: str
    size_bytes: int
    sha256: str
    urls: tuple[str, ...]
    piece_bytes: int = 0
    pieces: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@cache
def _tls() -> ssl.SSLContext:
    """Whom to trust, read once: that takes longer than a request."""
    import httpx2

    return httpx2.create_ssl_context()


@contextmanager
def open_client() -> Iterator[httpx2.Client]:
    """A client that follows redirects, to mirrors too."""
    import httpx2

    from . import __version__

    agent = {"User-Agent": f"ratsearch/{__version__}"}
    try:
        with httpx2.Client(follow_redirects=True, timeout=TIMEOUT_S, headers=agent, verify=_tls()) as client:
            yield client
    except (ImportError, ValueError, httpx2.InvalidURL) as error:  # a proxy of the environment, or an address
        raise DownloadError(f"An address, or a proxy that the environment names, cannot be used: {error}.") from error


def fetch_whole(client: httpx2.Client, wanted: Source, path: Path, progress: Progress | None = None) -> None:
    """Download `wanted` to `path`. DownloadError says why that did not work; what came in is kept as ``path.part``."""
    try:
        _download(client, wanted, path, progress or (lambda done, total: None))
    except OSError as error:
        raise DownloadError(
            f"{path} cannot be written ({error.strerror or error}): free some space, or choose another folder."
        ) from error


def reason(error: Exception) -> str:
    """An error of the HTTP client in words; some have none."""
    return " ".join(str(error).split()) or type(error).__name__


def _download(client: httpx2.Client, wanted: Source, path: Path, progress: Progress) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + PART)
    with _open_part(part) as file:
        have = file.seek(0, os.SEEK_END)
        if have > wanted.size_bytes:  # of something else
            have = file.truncate(0)
        free = shutil.disk_usage(path.parent).free
        needed = wanted.size_bytes - have + SPARE_BYTES
        if free < needed:
            raise DownloadError(
                f"{wanted.name} needs {needed / 1e9:,.1f} GB more, and {path.parent.resolve()} has {free / 1e9:,.1f} GB"
                " free: free some space, or choose another folder."
            )
        while True:
            gave = _fill(client, wanted, file, progress)
            file.flush()
            os.fsync(file.fileno())
            try:
                _verify(wanted, file, part)
                break
            except DownloadError as error:
                others = tuple(url for url in wanted.urls if url not in gave)
                if not (gave and others):
                    raise
                log.warning("%s Now from another mirror.", error)
                wanted = replace_fields(wanted, urls=others)
        _finish(part, path, file)


def _finish(part: Path, path: Path, file: IO[bytes]) -> None:
    if os.name == "nt":  # where an open file cannot be renamed
        file.close()
    os.replace(part, path)


@contextmanager
def _open_part(part: Path) -> Iterator[IO[bytes]]:
    """The unfinished file, for this process alone."""
    with open(part, "a+b") as file:
        try:
            if os.name == "nt":
                import msvcrt

                file.seek(1 << 60)  # beyond what is written
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DownloadError(f"{part} is being written by another program: wait for that one.") from error
        yield file


def _fill(client: httpx2.Client, wanted: Source, file: IO[bytes], progress: Progress) -> set[str]:
    """Append what is missing, as long as any mirror sends some of it. Returns the addresses that did."""
    gave: set[str] = set()
    if not wanted.urls:
        raise DownloadError(f"No address of {wanted.name} is published: try again later.")
    reasons: dict[str, str] = {}
    while (have := file.seek(0, os.SEEK_END)) < wanted.size_bytes:
        progress(have, wanted.size_bytes)
        for url in wanted.urls[:MAX_MIRRORS]:
            before = file.seek(0, os.SEEK_END)
            try:
                _append(client, url, wanted, file, progress)
            except _MirrorFault as fault:
                reasons[url] = str(fault)
                log.info("%s: %s", url, fault)
            now = file.seek(0, os.SEEK_END)
            if now > before:
                gave.add(url)
            if now == wanted.size_bytes:
                break
        if file.seek(0, os.SEEK_END) == have:  # a whole round for nothing
            file.flush()
            said = "; ".join(dict.fromkeys(reasons.values()))
            raise DownloadError(
                f"{wanted.name} could not be downloaded ({said}). {have:,} of {wanted.size_bytes:,} bytes are kept: "
                "the same command goes on from there."
            )
    progress(wanted.size_bytes, wanted.size_bytes)
    return gave


class _MirrorFault(Exception):
    """Why a mirror did not send the rest; another may."""


def _append(client: httpx2.Client, url: str, wanted: Source, file: IO[bytes], progress: Progress) -> None:
    """Append what `url` sends after what is there. _MirrorFault unless that was all the rest."""
    import httpx2

    have = file.seek(0, os.SEEK_END)
    headers = {**wanted.headers, "Accept-Encoding": "identity"}  # the bytes themselves are counted
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        with client.stream("GET", url, headers=headers) as reply:
            skip = _to_skip(reply, have, wanted.size_bytes)
            for block in reply.iter_raw():
                new = block[skip:] if skip < len(block) else b""
                skip = max(0, skip - len(block))
                new = new[: wanted.size_bytes - have]
                if new:
                    file.write(new)
                    have += len(new)
                    progress(have, wanted.size_bytes)
                if have == wanted.size_bytes:
                    return
    except httpx2.HTTPError as error:
        raise _MirrorFault(f"{httpx2.URL(url).host}: {reason(error)}") from error
    except (ValueError, httpx2.InvalidURL) as error:
        raise _MirrorFault(f"an address that cannot be used: {reason(error)}") from error
    raise _MirrorFault(f"{httpx2.URL(url).host} ended early")


def _to_skip(reply: httpx2.Response, have: int, size_bytes: int) -> int:
    """How many bytes at the beginning of the reply are there already. _MirrorFault if it is of something else."""
    host, headers = reply.url.host, reply.headers
    if headers.get("content-type", "").startswith(("text/html", "application/xhtml")):
        raise _MirrorFault(f"{host} sends a page instead of the archive (HTTP {reply.status_code})")
    if headers.get("content-encoding", "identity") != "identity":
        raise _MirrorFault(f"{host} sends it compressed")
    length = headers.get("content-length")
    if reply.status_code == 206:
        given = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", headers.get("content-range", "").strip())
        if given is None or int(given[1]) > have or given[3] not in ("*", str(size_bytes)):
            raise _MirrorFault(f"{host} sends another part than was asked for")
        return have - int(given[1])
    if reply.status_code == 200:  # it knows no ranges: what is there already is sent again, and passed over
        if length is not None and length != str(size_bytes):
            raise _MirrorFault(f"{host} has a file of another size")
        return have
    raise _MirrorFault(f"{host} answers with HTTP {reply.status_code}")


def _verify(wanted: Source, file: IO[bytes], part: Path) -> None:
    """DownloadError unless the whole has the published SHA-256; then the sound beginning of it stays."""
    whole, pieces = hashlib.sha256(), []
    file.seek(0)
    piece, room = hashlib.sha1(usedforsecurity=False), wanted.piece_bytes
    while block := file.read(min(BLOCK_BYTES, room) if wanted.pieces else BLOCK_BYTES):
        whole.update(block)
        if wanted.pieces:
            piece.update(block)
            room -= len(block)
            if room == 0:
                pieces.append(piece.hexdigest())
                piece, room = hashlib.sha1(usedforsecurity=False), wanted.piece_bytes
    if whole.hexdigest() == wanted.sha256:
        return
    if wanted.pieces and room != wanted.piece_bytes:
        pieces.append(piece.hexdigest())
    same = (its == published for its, published in zip(pieces, wanted.pieces, strict=False))
    sound = 0
    for is_same in same:
        if not is_same:
            break
        sound += 1
    kept = min(sound * wanted.piece_bytes, wanted.size_bytes)
    if kept == wanted.size_bytes:  # all pieces are right, so the published sum is not of them
        kept = 0
    file.truncate(kept)
    raise DownloadError(
        f"{wanted.name} came in damaged: its SHA-256 is {whole.hexdigest()}, published is {wanted.sha256}. "
        f"{kept:,} bytes of it are sound and kept in {part.name}: the same command goes on from there."
    )
