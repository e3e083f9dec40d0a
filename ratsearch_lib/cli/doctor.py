"""`ratsearch doctor`: what is here and what is missing, each with a verdict and what to do."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from .. import __version__
from ..cache import cache_folder
from ..errors import ChatError, RatsearchError, TitleIndexError
from .layout import DIM_ITALIC
from .options import Options, choose
from .screen import Screen

LOW_DISK_BYTES = 1_000_000_000
PYTHONS = ((3, 10), (3, 13))  # the oldest and the newest that it is tested with
MARKS = {"ok": "ok  ", "note": "note", "bad": "BAD "}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, what was found, and unless it is "ok" what to do: "note", could be better; "bad", is broken.

    `subject` is one of Python, packages, archive, title index, model, documents, disk.
    """

    verdict: Literal["ok", "note", "bad"]
    subject: str
    found: str
    advice: str = ""


def doctor(args: argparse.Namespace, environ: Mapping[str, str], out: Screen, *, as_json: bool) -> int:
    """Print the findings. Exit status 1 if one of them is bad."""
    findings = []
    for finding in examine(args, environ):
        findings.append(finding)
        if not as_json:
            out.line(f"{MARKS[finding.verdict]}  {finding.subject}: {finding.found}")
            if finding.advice:
                out.line(f"      {finding.advice}", DIM_ITALIC)
    if as_json:
        from .commands import print_json

        print_json([asdict(finding) for finding in findings])
    return 1 if any(finding.verdict == "bad" for finding in findings) else 0


def examine(args: argparse.Namespace, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Look at everything that a question needs."""
    yield _python()
    yield _packages()
    try:
        options = choose(args, environ)
    except RatsearchError as error:
        yield Finding("bad", "options", str(error), "Correct the option or the environment variable.")
        return
    yield from _archive(options)
    yield from _documents(options)
    yield from _model(options)
    yield from _disk(options)


def _python() -> Finding:
    version, (oldest, newest) = sys.version_info[:2], PYTHONS
    found = f"ratsearch {__version__} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    if version < oldest:
        return Finding("bad", "Python", found, f"Use Python {oldest[0]}.{oldest[1]} or newer.")
    if version > newest:
        return Finding("note", "Python", found, "It is newer than those that ratsearch was tested with.")
    return Finding("ok", "Python", found)


def _packages() -> Finding:
    from packaging.requirements import InvalidRequirement, Requirement

    lacking, fits = [], 0
    for line in _requirements():
        try:
            wanted = Requirement(line)
        except InvalidRequirement:
            continue
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            version = importlib.metadata.version(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            lacking.append(str(wanted).partition(";")[0])
            continue
        if wanted.specifier.contains(version, prereleases=True):
            fits += 1
        else:
            lacking.append(f"{str(wanted).partition(';')[0]} (there is {version})")
    if lacking:
        names = ", ".join(lacking)
        return Finding("bad", "packages", f"missing or of another version: {names}", "pip install -r requirements.txt")
    return Finding("ok", "packages", f"all {fits} of the versions that it needs")


def _requirements() -> list[str]:
    """Those of the installed package, or of the checkout that this runs from."""
    here = Path(__file__).resolve().parents[2] / "requirements.txt"
    if here.is_file():
        return here.read_text("utf-8").splitlines()
    try:
        return importlib.metadata.requires("ratsearch") or []
    except importlib.metadata.PackageNotFoundError:
        return []


def _archive(options: Options) -> Iterator[Finding]:
    for error in options.zim_errors:
        yield Finding("bad", "archive", error, "Correct or leave out that --zim.")
    if options.zim is None:
        advice = "" if options.zim_reason.startswith("none") else options.zim_reason
        yield Finding("note", "archive", "none: the sample encyclopedia is read", advice or "Name one with --zim.")
    for path in (options.zim, *options.more_zims) if options.zim else ():
        yield from _one_archive(path)


def _one_archive(path: Path) -> Iterator[Finding]:
    from ..archive import Archive
    from ..leads import LeadIndex
    from ..titles import TitleIndex

    try:
        archive = Archive(path)
        about = ", ".join(filter(None, (archive.language, archive.metadata.get("Date", ""))))
        yield Finding("ok", "archive", f"{path}: {archive.article_count:,} articles ({about})")
    except RatsearchError as error:
        yield Finding("bad", "archive", str(error), "`ratsearch zim get NAME` fetches one and verifies it.")
        return
    try:
        with TitleIndex.open(archive) as titles:
            yield Finding("ok", "title index", f"{len(titles):,} titles in {titles.path}")
    except TitleIndexError as error:
        yield Finding("note", "title index", str(error), "`ratsearch index` builds it now; else the first start does.")
    try:
        LeadIndex.open(archive).close()
        yield Finding("ok", "index of first paragraphs", "built")
    except TitleIndexError:
        yield Finding(
            "note", "index of first paragraphs", "none", "`ratsearch index --leads` finds more for descriptions."
        )


def _documents(options: Options) -> Iterator[Finding]:
    if options.docs is None:
        return
    from ..documents import DocumentStore
    from ..documents.database import is_store

    path = options.docs
    try:
        if not (path.is_file() and is_store(path)):
            yield Finding("ok", "documents", f"{path}: each start indexes what is new there")
            return
        with DocumentStore(path) as store:
            stats = store.stats()
        yield Finding("ok", "documents", f"{path}: {stats.unique_files:,} files, {stats.total_chunks:,} chunks")
    except (RatsearchError, OSError) as error:
        yield Finding("bad", "documents", str(error), "Correct or leave out --docs.")


def _model(options: Options) -> Iterator[Finding]:
    from ..chat.client import ChatClient
    from ..chat.discover import find_servers
    from ..chat.weights import GGUF_NAME

    if options.gguf:
        yield Finding("ok", "model", f"{options.gguf} ({options.gguf.stat().st_size / 1e9:.1f} GB)")
    elif options.hub:
        from ..chat.hub import hub_file

        there = hub_file(options.hub).is_file()
        advice = "" if there else "It is fetched when it is first needed."
        yield Finding("ok" if there else "note", "model", f"{options.hub} is {'' if there else 'not '}here", advice)
    elif options.endpoint:
        try:
            client = ChatClient(options.endpoint, options.model, options.api_key)
            names = ", ".join(client.models()[:5])
            tools = "calls tools" if client.supports_tools() else "cannot call tools: it is guided"
            yield Finding("ok", "model", f"{client.model} at {client.base_url} {tools}; it has {names}")
        except ChatError as error:
            yield Finding("bad", "model", str(error), "Start the server, or leave --endpoint and OPENAI_BASE_URL out.")
        return
    else:
        for server in find_servers():
            state = "still loads" if server.is_loading else "wants a key" if server.wants_key else "answers"
            advice = f"--endpoint {server.base_url} and OPENAI_API_KEY" if server.wants_key else ""
            yield Finding("note" if advice else "ok", "model", f"a server at {server.base_url} {state}", advice)
    if importlib.util.find_spec("xllamacpp") is None:
        yield Finding(
            "bad" if options.gguf or options.hub else "note",
            "model",
            "the package xllamacpp, which serves models itself, is not installed",
            "pip install xllamacpp, or use a server (--endpoint URL).",
        )
    elif (cache_folder("models") / GGUF_NAME).is_file():
        yield Finding("ok", "model", "the small one that comes with ratsearch is here")
    else:
        advice = "It is fetched when it is first needed (93 MB)."
        yield Finding("note", "model", "the small one that comes with ratsearch is not here yet", advice)


def _disk(options: Options) -> Iterator[Finding]:
    for folder in dict.fromkeys((cache_folder(), (options.zim or Path("x")).resolve().parent)):
        try:
            free = shutil.disk_usage(folder).free
        except OSError as error:
            yield Finding("bad", "disk", f"{folder}: {error.strerror}", "Make the folder, or give the right to it.")
            continue
        said = f"{free / 1e9:,.1f} GB free in {folder}"
        if free < LOW_DISK_BYTES:
            yield Finding("note", "disk", said, "An index of Wikipedia takes 1 GB: free some space.")
        elif not os.access(folder, os.W_OK):
            yield Finding("note", "disk", f"{said}, which cannot be written", "Indexes go to the cache folder.")
        else:
            yield Finding("ok", "disk", said)
