"""Writing a title index: where each title is read, which words it holds, and the vocabulary of all, in one pass."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sized
from itertools import islice
from pathlib import Path
from typing import TypeVar

from ..archive import Archive
from .files import write_synced
from .ordered import OrderedReader, OrderedWriter
from .sound import sounds
from .store import ArchiveTitlesWriter, StoredTitlesWriter
from .terms import batch_terms
from .words import FREQUENT, FREQUENT_SHARE, SPELLING_ENDS, SPELLINGS, VOCABULARY, WORDS

Progress = Callable[[int, "int | None"], None]
Each = TypeVar("Each")

BATCH = 4096  # titles
BUFFER_BYTES = 200_000_000  # tantivy's; smaller gives more segments to merge
TITLES_SHARE = 0.8  # of the time that all takes; the vocabulary is the rest
ASCII_FIRST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789=")  # what words begin with; "=" for exact terms
MIN_SPELLING = 3  # letters of words that can be misspelt


def write(source: Archive | Iterable[tuple[str, str | None]], folder: Path, progress: Progress | None) -> None:
    """Writes the files of an index to an empty folder. `progress` as for `TitleIndex.build`."""
    if isinstance(source, Archive):
        total: int | None = source.entry_count
        batches = _archive_batches(source, ArchiveTitlesWriter(folder))
    else:
        total = len(source) if isinstance(source, Sized) else None
        batches = _pair_batches(source, StoredTitlesWriter(folder))

    def report(done: float) -> None:
        if progress:
            progress(int(done), total)

    first_letters = set(ASCII_FIRST)
    whitespace = {"tokenizer_name": "whitespace", "index_option": "basic"}
    with OrderedWriter(folder / WORDS, {"word": whitespace}, buffer_bytes=BUFFER_BYTES) as words:
        for done, titles in batches:
            texts = batch_terms(titles)
            words.extend("word", texts)
            for text in texts:
                if not text.isascii():
                    first_letters.update([word[0] for word in text.split()])
            report(done * TITLES_SHARE if total else done)
    for share in _write_vocabulary(folder, sorted(first_letters), words.count):
        if total:
            report(total * (TITLES_SHARE + (1 - TITLES_SHARE) * share))
    if progress:
        progress(total or words.count, total or words.count)


def _archive_batches(archive: Archive, store: ArchiveTitlesWriter) -> Iterator[tuple[int, list[str]]]:
    """How many entries were read, and some of their titles; what else is kept of them goes to the store."""
    for batch in _batches(archive.entries()):
        store.extend([(entry.id, entry.redirect_path is not None) for entry in batch])
        yield batch[-1].id, [entry.title for entry in batch]
    store.close()


def _pair_batches(
    pairs: Iterable[tuple[str, str | None]], store: StoredTitlesWriter
) -> Iterator[tuple[int, list[str]]]:
    done = 0
    for batch in _batches(pairs):
        store.extend(batch)
        done += len(batch)
        yield done, [title for title, _ in batch]
    store.close()


def _batches(each: Iterable[Each]) -> Iterator[list[Each]]:
    iterator = iter(each)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _write_vocabulary(folder: Path, first_letters: list[str], titles: int) -> Iterator[float]:
    """Writes which words there are, in how many titles; yields the share of that which is done.

    By first letter, since all words at once would fill the memory.
    """
    import tantivy

    searcher = OrderedReader(folder / WORDS).searcher
    frequent: dict[str, int] = {}
    spellings, ends = bytearray(), array("I")
    new_document = tantivy.Document
    raw = {"tokenizer_name": "raw", "index_option": "basic"}
    with OrderedWriter(
        folder / VOCABULARY,
        {"word": raw, "trigram": {**raw, "tokenizer_name": "trigram"}, "sound": raw},
        numbers=("titles",),
        buffer_bytes=BUFFER_BYTES,
        analyzers={"trigram": tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(3, 3)).build()},
    ) as vocabulary:
        for done, letter in enumerate(first_letters):
            yield done / len(first_letters)
            words = searcher.terms_with_prefix("word", letter)
            frequent.update((word, count) for word, count in words if count > titles * FREQUENT_SHARE)
            if letter == "=":
                continue
            words = [each for each in words if len(each[0]) >= MIN_SPELLING and not each[0].isdigit()]
            for (word, count), sound in zip(words, sounds([word for word, _ in words]), strict=True):
                document = new_document()
                document.add_text("word", word)
                document.add_text("trigram", f"^{word}$")
                document.add_text("sound", sound)
                document.add_unsigned("titles", count)
                vocabulary.add(document)
                spellings += word.encode()
                ends.append(len(spellings))
    write_synced(folder / FREQUENT, json.dumps(frequent, ensure_ascii=False).encode())
    write_synced(folder / SPELLINGS, spellings)
    write_synced(folder / SPELLING_ENDS, ends.tobytes())
