"""Questions asked end to end: is the right page read, and does the reply hold the answer?

    python -m benchmarks.answers [--gguf FILE [--chat-template FILE] | --endpoint URL [--model NAME]]
                                 [--mode MODE] [--reading selected|first] [--given] [--distractors N]
                                 [--questions N] [--data FOLDER] [--results FILE] [--fresh] [--json]
                                 [--transcripts FOLDER]

Questions of SQuAD over an archive of its 24 articles (`squad.py`), with introductions of N other articles as
distractors, one conversation each, temperature 0. Without a model the embedded SmolLM2-135M answers, guided. --given
reads the right page whatever is asked for; --reading first gives a model that calls tools the page's first 65,535
characters in place of what answers the question. Each answered question is a row of --results (JSON Lines), and what
is there is not asked again: a run can be stopped and gone on with. --json prints one JSON object of the table's
figures. Right is a reply that holds one of the known answers, normalised as SQuAD does; the quotation counts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from ratsearch_lib import (
    Agent,
    ChatClient,
    ChatError,
    Evidence,
    Library,
    LocalServer,
    RunFinished,
    SentenceEvidence,
    ToolCall,
    ToolContext,
    ToolResult,
    Transcript,
    Usage,
)
from ratsearch_lib.cache import cache_folder
from ratsearch_lib.chat.weights import embedded_weights
from ratsearch_lib.evidence import is_found

from .squad import Question, archive, contains, exact, f1, questions, wilson

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
WINDOW = 8192
LONG_WINDOW = 16_384  # for a page's first 65,535 characters
SHARES = {
    "called": "called a tool",
    "page": "page right",
    "in_text": "answer in what was read",
    "answer": "answer right",
}


def ask(agent: Agent, question: Question) -> dict[str, Any]:
    """Ask one question: the row of results it makes, all but which model it was."""
    read: list[str] = []
    texts: list[str] = []
    calls = 0
    finished = RunFinished("", [], Usage(), "")
    evidence: tuple[SentenceEvidence, ...] = ()
    error = ""
    start = perf_counter()
    try:
        with closing(agent.run(question.text)) as events:
            for event in events:
                match event:
                    case ToolCall():
                        calls += 1
                    case ToolResult(text=text, title=title) if title:
                        read.append(title)
                        texts.append(text)
                    case Evidence(sentences=sentences):
                        evidence = sentences
                    case RunFinished():
                        finished = event
    except ChatError as failure:
        error = str(failure)
    return {
        "id": question.id,
        "question": question.text,
        "title": question.title,
        "answers": question.answers,
        "calls": calls,
        "called": calls > 0,
        "read": read,
        "page": question.title in read,
        "in_text": contains("\n".join(texts), question.answers),
        "answer": contains(finished.answer, question.answers),
        "exact": exact(finished.answer, question.answers),
        "f1": round(f1(finished.answer, question.answers), 4),
        "claims": sum(each.verdict is not None for each in evidence),
        "supported": sum(is_found(each) for each in evidence),
        "prompt_tokens": finished.usage.prompt_tokens,
        "completion_tokens": finished.usage.completion_tokens,
        "seconds": round(perf_counter() - start, 2),
        "stop_reason": finished.stop_reason,
        "reply": finished.answer,
        "error": error,
    }


def summary(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The figures of one model's rows: shares with their intervals, means, and the median of the seconds."""
    rows = list(rows)
    n = len(rows)
    figures: dict[str, Any] = {"n": n}
    for name in SHARES:
        hits = sum(row[name] for row in rows)
        figures[name] = {"n": hits, "share": round(hits / n, 3), "interval": [round(b, 3) for b in wilson(hits, n)]}
    for name in ("calls", "prompt_tokens", "completion_tokens", "f1"):
        figures[name] = round(sum(row[name] for row in rows) / n, 3)
    for name, right in (("supported_right", True), ("supported_wrong", False)):
        told = [row for row in rows if row["answer"] is right and row.get("claims")]
        figures[name] = round(sum(row["supported"] / row["claims"] for row in told) / len(told), 3) if told else None
    figures["exact"] = round(sum(row["exact"] for row in rows) / n, 3)
    figures["seconds"] = round(median(row["seconds"] for row in rows), 1)
    figures["errors"] = sum(bool(row["error"]) for row in rows)
    return figures


def show(setting: dict[str, str], figures: dict[str, Any]) -> None:
    about = ", ".join(str(value) for value in setting.values())
    print(f"{about}: {figures['n']} questions")
    for name, title in SHARES.items():
        low, high = figures[name]["interval"]
        print(f"  {title:<24}{figures[name]['n']:>5}{figures[name]['share']:>8.0%}   95 %: {low:.0%} to {high:.0%}")
    print(f"  {'F1, mean':<24}{figures['f1']:>13.2f}   exact: {figures['exact']:.0%}")
    for name, title in (("supported_right", "right"), ("supported_wrong", "wrong")):
        if figures[name] is not None:
            print(f"  {f'supported, of {title}':<24}{figures[name]:>13.0%}   of the sentences of {title} answers")
    print(f"  {'tool calls, mean':<24}{figures['calls']:>13.1f}")
    print(f"  {'prompt tokens, mean':<24}{figures['prompt_tokens']:>13,.0f}")
    print(f"  {'seconds, median':<24}{figures['seconds']:>13.1f}")
    if figures["errors"]:
        print(f"  {'errors':<24}{figures['errors']:>13}")


# Results, a row a question


def load(file: Path, setting: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The rows of this setting by question; a last line that a stopped run left unfinished is passed over."""
    rows = {}
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if setting.items() <= row.items():
                rows[row["id"]] = row
    return rows


def append(file: Path, row: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b") as stream:
        if stream.tell() and not _ends_whole(stream):
            stream.write(b"\n")
        stream.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def _ends_whole(stream: Any) -> bool:
    stream.seek(-1, os.SEEK_END)
    return stream.read(1) == b"\n"


# The run


@contextmanager
def open_client(args: argparse.Namespace) -> Iterator[ChatClient]:
    """A client of the model that was asked for, temperature 0."""
    if args.endpoint:
        yield ChatClient(args.endpoint, args.model, os.environ.get("OPENAI_API_KEY"), temperature=0)
        return
    window = LONG_WINDOW if args.reading == "first" else WINDOW
    with LocalServer(args.gguf or embedded_weights(), n_ctx=window, chat_template=args.chat_template) as server:
        yield ChatClient(server.base_url, None, server.api_key, temperature=0)


def run(args: argparse.Namespace) -> tuple[dict[str, str], dict[str, Any]]:
    """Ask what was not asked yet. Returns the setting and its figures."""
    wanted = questions(args.data, args.questions)
    with (
        Library.open(archive(args.data, args.distractors), build="wait") as library,
        open_client(args) as client,
    ):
        setting = {
            "model": client.find_model(),
            "mode": args.mode,
            "reading": args.reading,
            "page": "given" if args.given else "looked up",
            "distractors": args.distractors,
        }
        rows = {} if args.fresh else load(args.results, setting)
        known = sum(question.id in rows for question in wanted)
        if known:
            print(f"{known} questions are answered in {args.results} (--fresh asks them again)", file=sys.stderr)
        for number, question in enumerate(wanted, 1):
            if question.id in rows:
                continue
            with _transcript(args.transcripts, question, library) as transcript:
                tools = [] if args.mode == "none" else [reader(library, question, args)]
                mode = "tools" if args.mode == "none" else args.mode
                agent = Agent(client, tools, mode=mode, transcript=transcript)
                row = rows[question.id] = {**setting, **ask(agent, question)}
            append(args.results, row)
            marks = ", ".join(f"{name} {'yes' if row[name] else 'no'}" for name in ("page", "answer"))
            print(f"{number} of {len(wanted)}: {marks}, {row['seconds']:.1f} s", file=sys.stderr)
    return setting, summary(rows[question.id] for question in wanted)


def reader(library: Library, question: Question, args: argparse.Namespace) -> Callable[..., str]:
    """`read_article`, as this setting has it."""

    def read_article(title: str, *, context: ToolContext | None = None) -> str:
        if args.given:
            title, context.choose = question.title, False
        if args.reading == "first":
            context.max_tokens = None
        return library.read_article(title, context=context)

    read_article.schema = library.read_article.schema
    return read_article


def _transcript(folder: Path | None, question: Question, library: Library) -> AbstractContextManager:
    """The transcript of one question, in place of an older one; nothing where none is wanted."""
    if folder is None:
        return nullcontext()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{question.id}.jsonl"
    file.unlink(missing_ok=True)
    return Transcript(file, *library.archives)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__.split("\n")[0])
    options.add_argument("--data", type=Path, default=DATA, help="folder laid out as ../shared/data is")
    options.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options.add_argument("--gguf", metavar="FILE", help="a model file to serve")
    options.add_argument("--chat-template", metavar="FILE", help="Jinja chat template for --gguf")
    options.add_argument("--endpoint", metavar="URL", help="a server that runs; its key comes from $OPENAI_API_KEY")
    options.add_argument("--model", metavar="NAME", help="one of its models")
    options.add_argument(
        "--mode",
        choices=("auto", "tools", "guided", "none"),
        help="(auto; guided for the embedded model); none: no tools",
    )
    options.add_argument("--reading", choices=("selected", "first"), default="selected", help="what of a page is read")
    options.add_argument("--given", action="store_true", help="the right page is read, whatever is asked for")
    options.add_argument("--distractors", type=int, default=0, metavar="N", help="other articles' introductions (0)")
    options.add_argument("--questions", type=int, default=50, metavar="N", help="how many (50)")
    options.add_argument("--results", type=Path, metavar="FILE", help="a row a question (in the cache folder)")
    options.add_argument(
        "--transcripts", type=Path, metavar="FOLDER", help="save one of each question: ratsearch replay"
    )
    options.add_argument("--fresh", action="store_true", help="ask everything again")
    args = options.parse_args()
    args.mode = args.mode or ("auto" if args.gguf or args.endpoint else "guided")
    args.results = args.results or cache_folder("benchmarks") / "answers.jsonl"
    setting, figures = run(args)
    if args.json:
        print(json.dumps({**setting, **figures}))
    else:
        show(setting, figures)


if __name__ == "__main__":
    main()
