"""How well articles are read: what of a page survives, how fast, and whether a selection holds the answer.

    python -m benchmarks.reading [--data FOLDER] [--json] [--every N]

Coverage: the share of the questions of reading/*.json whose answer stands in `Article.select(question, max_chars=…)`,
each article whole, headings and marks counted in; beside it the share for the article's first characters.

Pages: html/*.html through ratsearch, html2text and (where it is installed) html-to-markdown: median time by size;
the share of infobox rows and of table rows that stand on one line; of formulas that stand there once; of pages
without reference marks. What should stand there is taken from the page itself, by rules of this file alone.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ratsearch_lib.article import Article
from ratsearch_lib.article.select import estimate_tokens

BUDGETS = (1000, 2000, 4000)
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_NO_WORD = re.compile(r"[\W_]+")
_MARK = re.compile(r"\w[.,]?\[(?:\d{1,3}|note \d+|[a-z])\]")
_STYLE = re.compile(r"\{\\(?:displaystyle|textstyle|scriptstyle)\b\s*(.*)\}", re.S)
_NOISE = (
    "style, script, template, sup.reference, sup[id^='cite_ref'], "
    ".mw-ref, .mw-editsection, .navbox, .sidebar, .noprint, .sortkey, .reflist, "
    ".references, .geo-nondefault, .geo-multi-punct, [style*='display:none'], [style*='display: none'], "
    "[style*='visibility:hidden'], [style*='visibility: hidden']"
)


# ------------------------------------------------------------------------------------------------- coverage


def coverage(file: Path, every: int) -> dict[str, dict]:
    """Shares of questions answered, and mean tokens, by budget: selected, and as many first characters."""
    selected, first, tokens, n = Counter(), Counter(), Counter(), 0
    for page in json.loads(file.read_text(encoding="utf-8"))["data"]:
        paragraphs = [paragraph["context"] for paragraph in page["paragraphs"]]
        body = "".join(f"<p>{html.escape(text)}</p>" for text in paragraphs)
        article = Article.from_html(f"<h1>{html.escape(page['title'])}</h1>{body}")
        whole = article.text()
        questions = [qa for paragraph in page["paragraphs"] for qa in paragraph["qas"]]
        for qa in questions[::every]:
            n += 1
            answers = [answer["text"].casefold() for answer in qa["answers"]]
            for budget in BUDGETS:
                text = article.select(qa["question"], max_chars=budget)
                tokens[budget] += estimate_tokens(text)
                selected[budget] += any(answer in text.casefold() for answer in answers)
                first[budget] += any(answer in whole[:budget].casefold() for answer in answers)
    return {
        "selected": {str(budget): round(selected[budget] / n, 4) for budget in BUDGETS},
        "first": {str(budget): round(first[budget] / n, 4) for budget in BUDGETS},
        "tokens": {str(budget): round(tokens[budget] / n) for budget in BUDGETS},
    }


# ---------------------------------------------------------------------------------------------------- pages


def converters() -> dict[str, Callable[[str], str]]:
    import html2text

    def with_html2text(page: str) -> str:
        converter = html2text.HTML2Text(bodywidth=0)
        converter.ignore_links = converter.ignore_images = True
        return converter.handle(page)

    found = {"ratsearch": lambda page: Article.from_html(page).text(), "html2text": with_html2text}
    if find_spec("html_to_markdown"):
        from html_to_markdown import convert

        def with_html_to_markdown(page: str) -> str:
            result = convert(page)
            return result if isinstance(result, str) else result.content or ""

        found["html-to-markdown"] = with_html_to_markdown
    return found


def pages(folder: Path) -> dict[str, dict[str, float]]:
    """For each converter: median times and shares of what survived."""
    texts = {file.name: file.read_text(encoding="utf-8", errors="replace") for file in sorted(folder.glob("*.html"))}
    expected = {name: Expected(page) for name, page in texts.items()}
    found = converters()
    times = {name: {"60_140kb": [], "2mb": []} for name in found}
    scores = {name: Counter() for name in found}
    for file, page in texts.items():
        size = (folder / file).stat().st_size
        group = "60_140kb" if 60_000 <= size <= 140_000 else "2mb" if 1_500_000 <= size <= 2_600_000 else None
        for name, convert in found.items():  # each page by all in turn: the machine may be busier later
            runs = []
            for _ in range(3 if group else 1):
                start = perf_counter()
                text = convert(page)
                runs.append((perf_counter() - start) * 1000)
            if group:
                times[name][group].append(min(runs))
            scores[name] += expected[file].score(text)
    return {
        name: {
            **{f"median_ms_{group}": round(median(runs), 1) for group, runs in times[name].items()},
            **{kind: round(score[kind] / score[f"{kind} in all"], 4) for kind in KINDS if score[f"{kind} in all"]},
        }
        for name, score in scores.items()
    }


KINDS = ("infobox_rows", "table_rows", "formulas", "pages_without_marks")


class Expected:
    """What a page's infobox, tables and formulas hold, read without any converter."""

    def __init__(self, page: str):
        tree = LexborHTMLParser(page)
        for node in tree.css(_NOISE):
            if node.tag not in ("html", "body") and "mwe-math" not in (node.attributes.get("class") or ""):
                node.decompose()
        self.formulas = Counter(_formulas(tree))
        self.infobox_rows = [row for box in tree.css("table.infobox") for row in _rows(box, key_and_value=True)]
        self.code = " ".join(node.text() for node in tree.css("code, pre, tt"))
        self.table_rows = [row for table in tree.css("table.wikitable") for row in _rows(table)]

    def score(self, text: str) -> Counter:
        lines = [_squeezed(line) for line in text.split("\n")]
        marks = [mark for mark in _MARK.findall(text) if mark not in self.code]  # a[2] is an element of a
        found = Counter({"pages_without_marks": not marks, "pages_without_marks in all": 1})
        for kind in ("infobox_rows", "table_rows"):
            rows = getattr(self, kind)
            found[f"{kind} in all"] += len(rows)
            found[kind] += sum(any(all(cell in line for cell in row) for line in lines) for row in rows)
        flat = " ".join(text.split())
        found["formulas in all"] += len(self.formulas)
        found["formulas"] += sum(_once(tex, count, flat, self.formulas) for tex, count in self.formulas.items())
        return found


def _squeezed(text: str) -> str:
    """Letters and digits alone, superscripts as plain digits: what no converter should change."""
    return _NO_WORD.sub("", unicodedata.normalize("NFKC", text).casefold())


def _formulas(tree: LexborHTMLParser) -> Iterator[str]:
    """The TeX of each formula, white space collapsed."""
    for node in tree.css("math[alttext]"):
        tex = node.attributes.get("alttext") or ""
        styled = _STYLE.fullmatch(tex.strip())
        if tex.strip():
            yield " ".join((styled[1] if styled else tex).split())


def _once(tex: str, count: int, text: str, formulas: Counter) -> bool:
    """Whether a formula stands in the text just as often as in the page (those that hold it counted off)."""
    inside = sum(n * other.count(tex) for other, n in formulas.items() if other != tex and tex in other)
    times = text.count(f"${tex}$") if len(tex) < 4 else text.count(tex) - inside
    return 0 < times <= count


def _cells(row: LexborNode, *tags: str) -> list[LexborNode]:
    found, cell = [], row.first_child
    while cell is not None:
        if cell.tag in tags:
            found.append(cell)
        cell = cell.next
    return found


def _rows(table: LexborNode, key_and_value: bool = False) -> Iterator[list[str]]:
    """The squeezed cells of each row with two or more (or just a key and its value); no formulas, no tables inside."""
    for row in table.css("tr"):
        cells = _cells(row, "td", "th")
        if key_and_value and [cell.tag for cell in cells] != ["th", "td"]:
            continue
        texts = [_squeezed(cell.text()) for cell in cells]
        told = all(texts) if key_and_value else any(texts)
        if len(cells) > 1 and told and row.css_first("table, math, .mwe-math-element") is None:
            yield texts


# --------------------------------------------------------------------------------------------------- output


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.reading", description=__doc__.split("\n")[0])
    options.add_argument("--data", type=Path, default=DATA, help="folder laid out as ../shared/data")
    options.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    options.add_argument("--every", type=int, default=1, help="only each Nth question")
    args = options.parse_args()
    files = sorted((args.data / "reading").glob("*.json"))
    if not files and not (args.data / "html").is_dir():
        sys.exit(f"{args.data} holds neither reading/*.json nor html/: give the data's folder with --data.")
    measured = {file.stem: coverage(file, args.every) for file in files}
    result = {
        "coverage": {name: each["selected"] for name, each in measured.items()},
        "first_chars": {name: each["first"] for name, each in measured.items()},
        "tokens": {name: each["tokens"] for name, each in measured.items()},
        "pages": pages(args.data / "html"),
    }
    if args.json:
        print(json.dumps(result))
        return
    print("Questions whose answer is in the text: selected / first characters (estimated tokens of the selection)\n")
    print(f"{'':18}" + "".join(f"{budget:>8,} characters    " for budget in BUDGETS))
    for name, each in measured.items():
        cells = [
            f"{each['selected'][b]:.3f} / {each['first'][b]:.3f} ({each['tokens'][b]:>4})" for b in map(str, BUDGETS)
        ]
        print(f"{name:18}" + "".join(f"{cell:>23}" for cell in cells))
    print("\nPages\n")
    columns = list(next(iter(result["pages"].values())))
    print(f"{'':18}" + "".join(f"{column:>21}" for column in columns))
    for name, each in result["pages"].items():
        print(f"{name:18}" + "".join(f"{each[column]:>21}" for column in columns))


if __name__ == "__main__":
    main()
