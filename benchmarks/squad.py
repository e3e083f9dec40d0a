"""Questions with known answers, the archive that holds them, and how an answer is scored: SQuAD 1.1's development set.

P. Rajpurkar et al., SQuAD: 100,000+ Questions for Machine Comprehension of Text, 2016, https://arxiv.org/abs/1606.05250
"""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import os
import random
import re
import string
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ratsearch_lib.cache import cache_folder

ARTICLES = Path("reading") / "squad_articles.json"
INTRODUCTIONS = "wiki_intros.jsonl.gz"
SEED = 7
_ARTICLE_WORDS = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the title of the page that answers it, and the answers that people gave."""

    id: str
    text: str
    title: str
    answers: tuple[str, ...]


def questions(data: Path, n: int, seed: int = SEED) -> list[Question]:
    """`n` questions, the same ones for the same seed; more of them begin with the fewer."""
    found = [
        Question(qa["id"], qa["question"].strip(), _title(page), tuple(answer["text"] for answer in qa["answers"]))
        for page in _pages(data)
        for paragraph in page["paragraphs"]
        for qa in paragraph["qas"]
    ]
    random.Random(seed).shuffle(found)
    return found[:n]


def archive(data: Path, distractors: int = 0) -> Path:
    """A ZIM file of the questions' articles, each whole, with titles and a full-text index; built once.

    distractors  so many other articles' introductions are in it, too
    """
    fingerprint = hashlib.sha256((data / ARTICLES).read_bytes() + Path(__file__).read_bytes()).hexdigest()[:12]
    path = cache_folder("benchmarks") / f"squad-{fingerprint}-{distractors}.zim"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            unfinished = Path(folder) / path.name
            # A process of its own, since libzim's writer prints on standard output.
            command = [sys.executable, "-m", "benchmarks.squad", str(data.resolve()), str(unfinished), str(distractors)]
            subprocess.run(command, check=True, cwd=Path(__file__).parents[1], stdout=subprocess.DEVNULL)
            os.replace(unfinished, path)
    return path


def write_archive(path: Path, pages: Iterable[tuple[str, str, str]]) -> None:
    """An archive of pages (path, title, HTML), with libzim's title and full-text indexes."""
    from libzim.writer import Creator, Hint, Item, StringProvider

    class Page(Item):
        def __init__(self, path: str, title: str, content: str):
            super().__init__()
            self.path, self.title, self.content = path, title, content

        def get_path(self) -> str:
            return self.path

        def get_title(self) -> str:
            return self.title

        def get_mimetype(self) -> str:
            return "text/html"

        def get_contentprovider(self) -> StringProvider:
            return StringProvider(self.content)

        def get_hints(self) -> dict[Hint, bool]:
            return {Hint.FRONT_ARTICLE: True}

    with Creator(path).config_indexing(True, "eng") as creator:
        for number, page in enumerate(pages):
            if not number:
                creator.set_mainpath(page[0])
            creator.add_item(Page(*page))


def _main(data: str, path: str, distractors: str) -> None:
    pages = [(page["title"], _title(page), _html(page)) for page in _pages(Path(data))]
    taken = {title for _, title, _ in pages}
    write_archive(Path(path), chain(pages, _introductions(Path(data), int(distractors), taken)))


def _introductions(data: Path, n: int, taken: set[str]) -> Iterator[tuple[str, str, str]]:
    """The first `n` introductions of other articles than those in `taken`."""
    with gzip.open(data / INTRODUCTIONS, "rt", encoding="utf-8") as file:
        for line in file:
            if n <= 0:
                return
            row = json.loads(line)
            if row["title"] not in taken:
                taken.add(row["title"])
                n -= 1
                title, text = html.escape(row["title"]), html.escape(row["text"])
                page = f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>"
                yield row["title"].replace(" ", "_"), row["title"], page


def _pages(data: Path) -> list[dict]:
    return json.loads((data / ARTICLES).read_text(encoding="utf-8"))["data"]


def _title(page: dict) -> str:
    return page["title"].replace("_", " ")


def _html(page: dict) -> str:
    title = html.escape(_title(page))
    body = "".join(f"<p>{html.escape(paragraph['context'])}</p>" for paragraph in page["paragraphs"])
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"


# The score, as SQuAD's own evaluation has it


def normalise(text: str) -> str:
    """Lower case, without punctuation, articles and superfluous white space.

    >>> normalise("The  U.S. Army, a force")
    'us army force'
    """
    return " ".join(_ARTICLE_WORDS.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def contains(reply: str, answers: Sequence[str]) -> bool:
    """Whether one of the answers stands in the reply, in whole words.

    >>> contains("It has 1,500 men.", ["1500"]), contains("In 1989.", ["198"])
    (True, False)
    """
    said = f" {normalise(reply)} "
    return any(f" {normalise(answer)} " in said for answer in answers)


def exact(reply: str, answers: Sequence[str]) -> bool:
    """Whether the reply is one of the answers.

    >>> exact("the Normans.", ["Normans"])
    True
    """
    return any(normalise(reply) == normalise(answer) for answer in answers)


def f1(reply: str, answers: Sequence[str]) -> float:
    """The reply's best F1 over the answers' words.

    >>> f1("in northern France", ["France"])
    0.5
    """
    return max((_f1(normalise(reply).split(), normalise(answer).split()) for answer in answers), default=0.0)


def _f1(said: list[str], wanted: list[str]) -> float:
    if not said or not wanted:
        return float(said == wanted)
    common = sum((Counter(said) & Counter(wanted)).values())
    return 2 * common / (len(said) + len(wanted))


def wilson(hits: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % confidence interval of a share (E. B. Wilson, Probable Inference, 1927).

    >>> [round(bound, 3) for bound in wilson(8, 10)]
    [0.49, 0.943]
    """
    if not n:
        return 0.0, 1.0
    share, spread = hits / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * (share * (1 - share) / n + spread / (4 * n)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


if __name__ == "__main__":
    _main(*sys.argv[1:])
