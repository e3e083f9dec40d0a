"""`ratsearch ask`, `read` and `titles`: one answer each, which alone goes to standard output."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from ..agent.events import ContextTrimmed, Event, Generated, Notice, Prefill, RunFinished
from ..asked import Asked
from ..errors import ArticleError, ChatError, EntryNotFound, RatsearchError
from ..evidence import SentenceEvidence, citations, is_found, mark, summary, verdict_words
from ..spelling import unquoted, without_section
from ..words import STOP_REASONS, trimmed_words
from .layout import DIM_ITALIC
from .opening import Session, open_library
from .options import Options, Report
from .screen import Screen
from .servers import explain
from .terminal import TurnPrinter, print_header

if TYPE_CHECKING:
    from ..library import Library
    from ..tools import ReadResult


NOTHING_SUPPORTED = 3  # exit status
NOTHING_CHECKED = "Nothing was read that the answer could be held against."


def ask(
    session: Session,
    question: str,
    out: Screen,
    err: Screen,
    *,
    verbose: bool = False,
    check: bool = False,
    as_json: bool = False,
) -> int:
    """Answer once: the answer on `out`; the rest, with `verbose` reasoning and calls too, on `err`.

    check    print under it which of its sentences what was read bears out: exit status 3 if there are none
    as_json  all of it as one JSON object

    Exit status 1 if no article or no words were found to answer with.
    """
    asked = Asked()
    print_header(session, err)
    printer = TurnPrinter(err, answer=False) if verbose else _Waiting(err)
    try:
        with closing(session.agent.run(question)) as run:
            for event in run:
                printer.feed(event)
                asked.feed(event)
    except ChatError as error:
        raise RatsearchError(explain(error, session.server)) from error
    finally:
        printer.finish()
    finished = asked.finished
    if as_json:
        print_json(asked.as_dict())
    elif finished.answer.strip():
        out.write(finished.answer.strip(), markup=True)
        out.end_line()
        if check:
            print_evidence(asked.sentences, out)
    if finished.stop_reason in ("not_found", "empty"):
        return 1
    return NOTHING_SUPPORTED if check and not any(map(is_found, asked.sentences)) else 0


def print_evidence(sentences: Sequence[SentenceEvidence], screen: Screen) -> None:
    """The summary, and what was found of each sentence that claims something."""
    screen.line(f"\n{summary(sentences) or NOTHING_CHECKED}")
    numbers = citations(sentences)
    for each in sentences:
        if each.verdict:
            screen.line(f"{mark(each, numbers)} {' '.join(each.sentence.split())}")
            screen.line(f"    {verdict_words(each)}", DIM_ITALIC)


class _Waiting:
    """Shows only that something is being waited for, and the program's own remarks."""

    def __init__(self, screen: Screen):
        self._screen = screen
        screen.status("Processing...")

    def feed(self, event: Event) -> None:
        match event:
            case Prefill(processed) if processed:
                self._screen.status(f"{processed} Reading...")
            case Generated(tokens):
                self._screen.status(f"{tokens} Thinking...")
            case Notice(text):
                self._screen.line(f"[{text}]", DIM_ITALIC)
            case ContextTrimmed():
                self._screen.line(f"[{trimmed_words(event)}]", DIM_ITALIC)
            case RunFinished(stop_reason=stop_reason) if stop_reason in STOP_REASONS:
                self._screen.line(f"[{STOP_REASONS[stop_reason]}]", DIM_ITALIC)

    def finish(self) -> None:
        self._screen.hide_status()


def read(options: Options, title: str, out: Screen, report: Report, *, full: bool, as_json: bool) -> int:
    """Print what the model would read for `title`, or with `full` all of the article. Exit status 1 on a miss."""
    with open_library(options, report, build="never") as library:
        result = library.read(title)
        if result.title is not None or library.titles is not None:
            return _print_article(library, title, result, out, full=full, as_json=as_json)
    with open_library(options, report) as library:  # only a miss needs the title index
        return _print_article(library, title, library.read(title), out, full=full, as_json=as_json)


def _print_article(library: Library, title: str, result: ReadResult, out: Screen, *, full: bool, as_json: bool) -> int:
    found = result.title is not None
    text = _whole(library, title, result) if found and full else result.text
    if not as_json:
        out.write(text, markup=True)
        out.end_line()
    elif found:
        print_json({"found": True, "title": result.title, "source": result.source, "text": text})
    else:
        print_json({"found": False, "related": text.splitlines()[1:]})
    return 0 if found else 1


def _whole(library: Library, title: str, result: ReadResult) -> str:
    """The text of `result` without the cut: of the article, or of the section that the title names."""
    with suppress(EntryNotFound, ArticleError):  # where the page holds no text, the result says so
        try:
            section = library.archive.entry(title).section
        except EntryNotFound:  # a title that was only like the article's
            section = without_section(unquoted(title))[1]
        article = library.article_of(result.source)
        article = (section and article.part(section)) or article
        return "".join([*result.text.partition("\n")[:2], article.text().partition("\n")[2]])
    return result.text


def titles(options: Options, query: str, out: Screen, report: Report, *, limit: int, as_json: bool) -> int:
    """Print the nearest titles, best first. Exit status 1 if there is none."""
    with open_library(options, report) as library:
        matches = library.search_titles(query, limit)
    if as_json:
        fields = ("title", "path", "score", "matched")
        print_json([{field: getattr(match, field) for field in fields} for match in matches])
    else:
        for match in matches:
            out.line(match.title if match.matched == match.title else f"{match.title} ({match.matched})")
    if not matches:
        report(f"No title is like {query!r}.")
    return 0 if matches else 1


def print_json(value: Any) -> None:
    """One JSON value on standard output, in which nothing can drive a terminal either."""
    text = json.dumps(value, ensure_ascii=(sys.stdout.encoding or "").lower() != "utf-8", indent=2)
    print(re.sub("[\x7f-\x9f\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text), flush=True)
