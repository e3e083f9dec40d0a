"""Does evidence tell true sentences from false ones?

    python -m benchmarks.evidence [--data FOLDER] [--json]

FEVER's claims (J. Thorne et al., FEVER: a large-scale dataset for fact extraction and verification, 2018,
https://arxiv.org/abs/1803.05355) against the introductions of their pages, and against another page; true sentences
whose number, date or name was altered; and the time for an answer of ten sentences. Beside it: the share of a claim's
words that the page holds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from time import process_time

from ratsearch_lib.evidence import check
from ratsearch_lib.text import STOP_WORDS, sentences, tokens
from ratsearch_lib.tools import ReadResult

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
MAX_CHARS = 65_535
ALTERED = 500
SEED = 5
ROUNDS = 5
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")
_NAME = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][a-z]{3,}(?: [A-Z][a-z]{2,})*")
_MONTH = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December)\b(?= \d)"
)
MONTHS = "January February March April May June July August September October November December".split()


def read_intros(data: Path) -> dict[str, str]:
    """The introductions by title."""
    found: dict[str, str] = {}
    with gzip.open(data / "wiki_intros.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            found.setdefault(row["title"], row["text"])
    return found


def page(title: str, intros: dict[str, str]) -> ReadResult:
    """An introduction as a tool would read it."""
    return ReadResult(f"Article: {title}\n\n{intros[title]}", title, f"intros.zim/{title}")


def claims(data: Path) -> list[dict]:
    lines = (data / "queries" / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def measure_claims(data: Path, intros: dict[str, str]) -> dict[str, float]:
    """Of claims called supported, the share that is; of true ones, the share called so; and how well scores rank."""
    rows = claims(data)
    rng = random.Random(SEED)
    titles = sorted({title for row in rows for title in row["titles"]})
    truth, scores, overlaps, called, elsewhere = [], [], [], [], 0
    for row in rows:
        sources = [page(title, intros) for title in row["titles"]]
        found = check(row["claim"], sources)
        truth.append(row["label"] == "SUPPORTS")
        scores.append(sum(each.score for each in found) / max(1, len(found)))
        overlaps.append(overlap(row["claim"], " ".join(source.text for source in sources)))
        called.append(is_supported(row["claim"], sources))
        other = rng.choice([title for title in titles if title not in row["titles"]])
        elsewhere += is_supported(row["claim"], [page(other, intros)])
    right = sum(true and said for true, said in zip(truth, called, strict=True))
    return {
        "claims": len(rows),
        "auc": auc(scores, truth),
        "auc_words": auc(overlaps, truth),
        "precision": right / max(1, sum(called)),
        "recall": right / sum(truth),
        "other_page": elsewhere / len(rows),
    }


def is_supported(text: str, sources: Sequence[ReadResult]) -> bool:
    verdicts = [each.verdict for each in check(text, sources) if each.verdict]
    return bool(verdicts) and all(verdict in ("verbatim", "supported") for verdict in verdicts)


def overlap(claim: str, text: str) -> float:
    """The share of a claim's words that a text holds: the bag of words."""
    wanted = {token for token in tokens(claim) if token not in STOP_WORDS}
    return len(wanted & set(tokens(text))) / max(1, len(wanted))


def auc(scores: Sequence[float], truth: Sequence[bool]) -> float:
    """The area under the ROC curve: how often a true one is ranked before a false one (ties count half)."""
    true = [score for score, label in zip(scores, truth, strict=True) if label]
    false = [score for score, label in zip(scores, truth, strict=True) if not label]
    wins = sum((a > b) + (a == b) / 2 for a in true for b in false)
    return wins / (len(true) * len(false))


def altered(intros: dict[str, str], n: int = ALTERED) -> list[tuple[str, str, str, str]]:
    """True sentences with one number, month or name changed: (kind, title, sentence, altered sentence).

    Half of the names and numbers come from elsewhere in the same introduction, which is harder.
    """
    rng = random.Random(SEED)
    titles = sorted(title for title in intros if len(intros[title]) > 700)
    kinds = ("number", "month", "name")
    found: list[tuple[str, str, str, str]] = []
    while len(found) < n:
        kind = kinds[len(found) % 3]
        title = rng.choice(titles)
        said = [each for each in sentences(intros[title]) if 40 < len(each) < 300]
        if not said:
            continue
        sentence = rng.choice(said)
        pattern = {"number": _NUMBER, "month": _MONTH, "name": _NAME}[kind]
        spots = list(pattern.finditer(sentence))
        if not spots:
            continue
        spot = rng.choice(spots)
        pool = intros[title] if len(found) % 2 else intros[rng.choice(titles)]
        values = MONTHS if kind == "month" else [match[0] for match in pattern.finditer(pool)]
        values = [value for value in values if value not in sentence and value not in title and spot[0] not in value]
        if not values or (kind == "name" and spot[0] in title):
            continue
        changed = sentence[: spot.start()] + rng.choice(values) + sentence[spot.end() :]
        found.append((kind, title, sentence, changed))
    return found


def measure_altered(intros: dict[str, str]) -> dict[str, float]:
    """The share of altered sentences that are not called supported, and of the same ones unaltered that are."""
    rows = altered(intros)
    caught = [not is_supported(changed, [page(title, intros)]) for _, title, _, changed in rows]
    true = [is_supported(sentence, [page(title, intros)]) for _, title, sentence, _ in rows]
    return {"altered": len(rows), "altered_caught": sum(caught) / len(rows), "unaltered": sum(true) / len(rows)}


def measure_time(data: Path) -> dict[str, float]:
    """Milliseconds for an answer of ten sentences against 65,535 characters, and for cutting these into words."""
    articles = json.loads((data / "reading" / "squad_articles.json").read_text(encoding="utf-8"))["data"]
    times, cuts = [], []
    for article in articles:
        text = "\n\n".join(paragraph["context"] for paragraph in article["paragraphs"])
        text = (text * (MAX_CHARS // len(text) + 1))[:MAX_CHARS]
        answers = [qa["answers"][0]["text"] for p in article["paragraphs"] for qa in p["qas"]][:200:20]
        answer = " ".join(f"The article says that {each} was first among them in 1912." for each in answers)
        source = ReadResult(f"Article: {article['title']}\n\n{text}", article["title"], "a.zim/a")
        times.append(best_of(lambda answer=answer, source=source: check(answer, [source])))
        cuts.append(best_of(lambda text=text: tokens(text)))
    middle = len(times) // 2
    return {"ms": 1000 * sorted(times)[middle], "ms_tokens": 1000 * sorted(cuts)[middle]}


def best_of(call) -> float:
    """Seconds on one core, of the fastest of a few rounds."""
    found = []
    for _ in range(ROUNDS):
        start = process_time()
        call()
        found.append(process_time() - start)
    return min(found)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.evidence", description=__doc__.split("\n")[0])
    options.add_argument("--data", type=Path, default=DATA, help="folder laid out as ../shared/data is")
    options.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    args = options.parse_args()
    intros = read_intros(args.data)
    figures = {**measure_claims(args.data, intros), **measure_altered(intros), **measure_time(args.data)}
    figures = {name: round(value, 3) for name, value in figures.items()}
    if args.json:
        print(json.dumps(figures))
    else:
        show(figures)


def show(figures: dict[str, float]) -> None:
    words, unaltered, cut = figures["auc_words"], figures["unaltered"], figures["ms_tokens"]
    print(f"{figures['claims']:,} claims against the introductions of their pages")
    print(f"  area under the ROC curve      {figures['auc']:.3f}   (the share of words alone: {words:.3f})")
    print(f"  called supported: right       {figures['precision']:.1%}")
    print(f"  supported: called so          {figures['recall']:.1%}")
    print(f"  another page: supported       {figures['other_page']:.1%}")
    print(f"{figures['altered']:,} true sentences with a number, month or name altered")
    print(f"  not called supported          {figures['altered_caught']:.1%}   (unaltered, supported: {unaltered:.1%})")
    print("An answer of ten sentences against 65,535 characters")
    print(f"  {figures['ms']:.1f} ms   (to cut these into words as search does: {cut:.1f} ms)")


if __name__ == "__main__":
    main()
