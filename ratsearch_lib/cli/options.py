"""Which archive, server and model: the options that `ratsearch` and `app.py` share."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import RatsearchError
from .paths import choose_archives, existing, path_of, there

Report = Callable[[str], None]  # is given one line for the person


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for, by options, environment and folder together.

    zim            the archive; None: the sample encyclopedia
    zim_reason     why that one, for the header
    more_zims      archives to read beside it
    zim_errors     why others that were asked for are not read
    docs           a folder of documents to search too, or a store of them; None: no documents
    endpoint       the chat server's address; None: one found on this machine, or the embedded model
    api_key        for `endpoint` alone
    model          a model's name on the server; None: its first
    gguf           a model file to serve; None: the embedded model's, where no server is used
    hub            a model file of the Hugging Face hub to serve, as hf:owner/repo:file.gguf
    chat_template  a Jinja file to serve `gguf` or `hub` with; None: its own
    mode           "auto", "tools" or "guided"
    context        the model's context window in tokens, where its server does not say; None: the usual
    download       whether the embedded model's weights may be fetched
    save           where the runs' transcript is written; None: nowhere
    """

    zim: Path | None = None
    zim_reason: str = "none was asked for"
    more_zims: tuple[Path, ...] = ()
    zim_errors: tuple[str, ...] = ()
    docs: Path | None = None
    endpoint: str | None = None
    api_key: str | None = None
    model: str | None = None
    gguf: Path | None = None
    hub: str | None = None
    chat_template: Path | None = None
    mode: str = "auto"
    temperature: float | None = None
    seed: int | None = None
    context: int | None = None
    download: bool = True
    save: Path | None = None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add every option below to `parser`. None has a default, so that a subcommand can repeat its parent's."""
    add_archive_options(parser)
    add_model_options(parser)


def add_archive_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("archive")
    group.add_argument(
        "--zim",
        type=_not_empty,
        action="append",
        metavar="FILE",
        help="the ZIM archive to read; more than once for several"
        " (else: $RATSEARCH_ZIM, ./wikipedia.zim, the only ./*.zim, a small sample)",
    )
    group.add_argument(
        "--docs",
        type=_not_empty,
        metavar="FOLDER",
        help="your own documents, to be searched and read beside it (or a store made by ratsearch docs)",
    )


def add_model_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument(
        "--endpoint",
        metavar="URL",
        help="an OpenAI-compatible server, such as localhost:8080; its key comes from $OPENAI_API_KEY"
        " (else: $OPENAI_BASE_URL, a server found on this machine, a small model that comes with ratsearch)",
    )
    group.add_argument(
        "--model",
        metavar="NAME|FILE.gguf",
        help="one of the server's models; or a model file to serve, which hf:OWNER/REPO:FILE.gguf fetches first",
    )
    group.add_argument("--chat-template", metavar="FILE", help="Jinja chat template for --model FILE.gguf")
    group.add_argument(
        "--mode",
        choices=("auto", "tools", "guided"),
        help="let the model call the tool, or do it for models that cannot (auto: as the server says)",
    )
    group.add_argument(
        "--temperature",
        type=number_from(0, "a temperature is a number from 0, mostly to 1"),
        metavar="T",
        help="0: always the likeliest word",
    )
    group.add_argument(
        "--seed", type=whole_number(-1, "a seed is a whole number"), metavar="N", help="the same seed, the same answer"
    )
    group.add_argument(
        "--context",
        type=whole_number(512, "a context window has at least 512 tokens"),
        metavar="TOKENS",
        help="the model's context window: of a model served here, or at most that much of another's",
    )
    group.add_argument("--no-download", action="store_true", help="never fetch the small model's weights")


def add_save_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--save",
        type=_not_empty,
        metavar="FILE",
        help="write a transcript to a new file, as JSON Lines: all that was asked, read and answered",
    )


def _not_empty(text: str) -> str:
    if not text.strip():  # a shell variable that is not set: nobody meant "choose for me"
        raise argparse.ArgumentTypeError("it is empty: give a file, or leave the option out")
    return text


def whole_number(least: int, complaint: str) -> Callable[[str], int]:
    """A type of argument: a whole number of at least `least`, else the `complaint`."""

    def parse(text: str) -> int:
        number = int(text) if re.fullmatch(r"\s*[-+]?\d{1,18}\s*", text) else None
        if number is None or number < least:
            raise argparse.ArgumentTypeError(f"{complaint}, and not {text[:40]!r}")
        return number

    return parse


def number_from(least: float, complaint: str) -> Callable[[str], float]:
    """A type of argument: a number of at least `least`, else the `complaint`."""

    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not least <= number < math.inf:
            raise argparse.ArgumentTypeError(f"{complaint}, and not {text[:40]!r}")
        return number

    return parse


def choose(args: argparse.Namespace, environ: Mapping[str, str], folder: Path = Path()) -> Options:
    """What to open, from the parsed options, the environment and the current `folder`.

    The only reader of the environment. Raises RatsearchError when the options contradict each other or name a
    file that is not there.
    """
    given = {name: value for name, value in vars(args).items() if value is not None and value is not False}
    zims, zim_reason, zim_errors = choose_archives(given.get("zim"), environ.get("RATSEARCH_ZIM"), folder)
    model, endpoint = given.get("model"), given.get("endpoint")
    gguf = hub = None
    if model and not endpoint:  # with --endpoint it is a server's name for it
        if model.lower().startswith("hf:"):
            from ..chat.hub import hub_file

            hub_file(model)  # which says so where that is no name of one
            hub, model = model, None
        elif model.lower().endswith(".gguf"):
            gguf, model = existing(path_of(model, "--model"), "--model"), None
    if not (gguf or hub):
        endpoint = endpoint or environ.get("OPENAI_BASE_URL") or None
    template = given.get("chat_template")
    if template and not (gguf or hub):
        raise RatsearchError("--chat-template goes with --model FILE.gguf: other servers have templates of their own.")
    return Options(
        zim=zims[0] if zims else None,
        zim_reason=zim_reason,
        more_zims=tuple(zims[1:]),
        zim_errors=tuple(zim_errors),
        docs=there(path_of(given["docs"], "--docs"), "--docs") if "docs" in given else None,
        endpoint=endpoint,
        api_key=(environ.get("OPENAI_API_KEY") or None) if endpoint else None,
        model=model,
        gguf=gguf,
        hub=hub,
        chat_template=existing(path_of(template, "--chat-template"), "--chat-template") if template else None,
        mode=given.get("mode", "auto"),
        temperature=given.get("temperature"),
        seed=given.get("seed"),
        context=given.get("context"),
        download="no_download" not in given,
        save=path_of(given["save"], "--save") if "save" in given else None,
    )
