"""Files → what is written of them: chunks, packed, with the numbers of their terms. Done for some files at a time.

Nothing here knows the store, so that it can be done in other processes (`workers.py`): python -m this module reads
batches of (name, content) from standard input and answers on standard output, as `marshal` writes them.
"""

from __future__ import annotations

import hashlib
import marshal
import signal
import sys
import zlib
from array import array
from collections.abc import Iterable
from typing import IO, Any

from ..text import folded_words, guess_language
from .chunk import chunks, count_words
from .extract import MAX_BYTES, Extracted, NotText, extract
from .terms import Numbers

LANGUAGE_CHARS = 1500
SIZE_BYTES = 8  # of the number before a message

Piece = tuple[int, int, bytes, bytes]  # a chunk: key, words, text (packed), numbers of its terms (uint32)
Prepared = tuple[str, str, str, "list[Piece]"]  # a file: why it has no chunks or "", language, encoding, chunks


class Batch:
    """Some files, and the terms that their chunks' numbers mean."""

    def __init__(self):
        self.terms: dict[str, int] = {}
        self._numbers: dict[str, Numbers] = {}

    def file(self, name: str, data: bytes, chunk_size: int) -> Prepared:
        try:
            if len(data) > MAX_BYTES:
                raise NotText(f"larger than {MAX_BYTES // 1_000_000} MB")
            file = extract(data, name)
            texts = chunks(file.text, chunk_size, file.kind)
            if not texts:
                raise NotText("empty")
        except NotText as reason:
            return str(reason), "", "", []
        language = _language(file)
        return "", language, file.encoding, self.pieces(texts, language)

    def pieces(self, texts: Iterable[str], language: str) -> list[Piece]:
        numbers = self._numbers.get(language)
        if numbers is None:
            numbers = self._numbers[language] = Numbers(language, self.terms)
        found = []
        for text in texts:
            data = text.encode("utf-8", "replace")
            if not text.isascii():
                text = data.decode("utf-8")  # without lone surrogates
            terms = array("I", map(numbers.__getitem__, folded_words(text)))
            found.append((key_of(data), count_words(text), zlib.compress(data, 1), terms.tobytes()))
        return found


def key_of(text: bytes) -> int:
    """The number that a text is known by, unless another one of the same hash was there first."""
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)


def prepare(files: list[tuple[str, bytes]], chunk_size: int) -> tuple[list[str], list[Prepared]]:
    """The terms and the files of a batch."""
    batch = Batch()
    prepared = [batch.file(name, data, chunk_size) for name, data in files]
    return list(batch.terms), prepared


def _language(file: Extracted) -> str:
    """The code of a language other than English, "" for that and for what is unknown."""
    return language_of(file.text) if file.kind == "prose" else ""


def language_of(text: str) -> str:
    found = guess_language(text[:LANGUAGE_CHARS])
    return "" if found in (None, "en") else found


def send(stream: IO[bytes], message: Any) -> None:
    data = marshal.dumps(message)
    stream.write(len(data).to_bytes(SIZE_BYTES, "big"))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message. EOFError when the other side is gone."""
    head = stream.read(SIZE_BYTES)
    data = stream.read(int.from_bytes(head, "big")) if len(head) == SIZE_BYTES else b""
    if not data:
        raise EOFError
    return marshal.loads(data)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this one decides
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    while True:
        try:
            files, chunk_size = receive(sys.stdin.buffer)
            send(answers, prepare(files, chunk_size))
        except (EOFError, BrokenPipeError):
            return


if __name__ == "__main__":
    main()
