"""Writes the sample's pages, redirects, style sheet and picture into a ZIM file.

Run as `python -m ratsearch_lib.sample.build FILE.zim`, since libzim's writer prints on the standard output of its
process whatever it is told. Lines "progress DONE TOTAL" among that tell how far it is.
"""

import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

from .page import Page, link, redirect_stub, render

SOURCES = Path(__file__).parent
MAIN_PATH = "index"
METADATA = {
    "Title": "Ratsearch sample",
    "Description": "A small encyclopedia to try ratsearch with",
    "Language": "eng",
    "Creator": "ratsearch",
    "Publisher": "ratsearch",
    "Name": "ratsearch_en_sample",
    "Scraper": "ratsearch",
    "Tags": "ratsearch;_category:other;_pictures:yes;_videos:no;_details:yes;_ftindex:yes",
}


def read_table(file: Path) -> list[list[str]]:
    """The rows of a tab-separated file; empty lines and lines that begin with `#` are left out."""
    lines = file.read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def read_pages(sources: Path) -> list[Page]:
    """Every article and disambiguation page of the folder of sources, in the order of their titles."""
    navboxes: dict[str, list[tuple[str, str]]] = {}
    for name, group, links in read_table(sources / "navboxes.tsv"):
        navboxes.setdefault(name, []).append((group, links))
    pages = [render(file.read_text("utf-8"), navboxes) for file in sorted((sources / "pages").glob("*.html"))]
    return sorted(pages, key=lambda page: page.title)


def main_page(titles: list[str]) -> str:
    """The page that a reader opens first: the list of all titles."""
    items = "\n".join(f"<li>{link(title)}</li>" for title in titles)
    return (
        '<html><head><meta charset="UTF-8">\n<title>Ratsearch sample</title>\n'
        '<link href="./_mw_/site.styles.css" rel="stylesheet" type="text/css">\n</head>\n'
        f'<body class="article-list-home mw-body-content nojs"><ul id="list">\n{items}\n</ul></body></html>\n'
    )


def build(sources: Path, path: Path, progress: Callable[[int, int], None]) -> None:
    """Write the archive to `path`. Raises OSError and RuntimeError (libzim's) as they come."""
    from libzim.writer import Creator, Hint, Item, StringProvider

    class Entry(Item):
        def __init__(self, path: str, title: str, mimetype: str, content: str | bytes, front: bool = False):
            super().__init__()
            self.path, self.title, self.mimetype, self.content, self.front = path, title, mimetype, content, front

        def get_path(self):
            return self.path

        def get_title(self):
            return self.title

        def get_mimetype(self):
            return self.mimetype

        def get_contentprovider(self):
            return StringProvider(self.content)

        def get_hints(self):
            return {Hint.FRONT_ARTICLE: self.front, Hint.COMPRESS: self.mimetype.startswith("text/")}

    pages = read_pages(sources)
    redirects = read_table(sources / "redirects.tsv")
    stubs = [redirect_stub(title, target) for title, target in redirects if "#" in target]
    redirects = [row for row in redirects if "#" not in row[1]]
    rat = (sources / "rat.png").read_bytes()

    entries = [Entry(page.path, page.title, "text/html", page.html, front=True) for page in pages + stubs]
    entries.append(Entry(MAIN_PATH, "Main Page", "text/html", main_page([page.title for page in pages])))
    entries.append(Entry("_mw_/site.styles.css", "", "text/css", (sources / "style.css").read_text("utf-8")))
    entries.append(Entry("_assets_/rat.png", "", "image/png", rat))
    entries.append(Entry("_res_/favicon.png", "", "image/png", rat))

    total = len(entries) + len(redirects)
    with Creator(path).config_compression("zstd").config_indexing(True, "eng").config_nbworkers(2) as creator:
        creator.set_mainpath(MAIN_PATH)
        creator.add_illustration(48, rat)
        for name, value in METADATA.items():
            creator.add_metadata(name, value)
        creator.add_metadata("Date", date.today())
        for done, entry in enumerate(entries, start=1):
            creator.add_item(entry)
            progress(done, total)
        for done, (title, target) in enumerate(redirects, start=len(entries) + 1):
            path_of = title.replace(" ", "_")
            creator.add_redirection(path_of, title, target.replace(" ", "_"), {Hint.FRONT_ARTICLE: True})
            progress(done, total)


def main() -> None:
    try:
        build(SOURCES, Path(sys.argv[1]), lambda done, total: print("progress", done, total, flush=True))
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
