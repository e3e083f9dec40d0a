"""A file's bytes → its text, by what is in them; its name only says how to cut the text into chunks.

Files are not to be trusted: what is unpacked is counted, and PDFs are read in a process of their own (`pdf.py`).
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from dataclasses import dataclass
from pathlib import PurePath

from .encoding import decode

MAX_BYTES = 64_000_000  # of a file, and of what is unpacked from one

_HTML = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_RAGSTORE = re.compile(r'\s*\{\s*"documents":\s*\[\s*\{\s*"id":\s*"[0-9a-f]{16}",\s*"path":')
_CODE = frozenset(
    """.ada .asm .awk .bash .bat .c .cc .clj .cljs .cmake .coffee .cpp .cs .css .cu .cxx .d .dart .el .erl .ex .exs .f90
    .fs .go .gradle .groovy .h .hh .hpp .hs .hxx .java .jl .js .jsx .kt .kts .lisp .lua .m .mjs .ml .mm .nim .nix .pas
    .php .pl .pm .proto .ps1 .py .pyi .r .rb .rkt .rs .sc .scala .scm .scss .sh .sol .sql .svelte .swift .tcl .ts .tsx
    .v .vb .vhd .vim .vue .zig .zsh""".split()
)
_MAGIC = (
    (b"\x89PNG", "a picture"), (b"\xff\xd8\xff", "a picture"), (b"GIF8", "a picture"), (b"BM", "a picture"),
    (b"SQLite format 3", "a database"), (b"\x7fELF", "a program"), (b"MZ", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"ID3", "sound"), (b"OggS", "sound"), (b"fLaC", "sound"), (b"RIFF", "sound or video"), (b"\x1aE\xdf\xa3", "video"),
    (b"7z\xbc\xaf", "an archive"), (b"Rar!", "an archive"), (b"\xfd7zXZ", "an archive"), (b"BZh", "an archive"),
    (b"\x28\xb5\x2f\xfd", "an archive"), (b"\xd0\xcf\x11\xe0", "an old Office file: save it as DOCX or PDF"),
    (b"ZIM\x04", "a ZIM archive: read it with --zim"), (b"GGUF", "a model"), (b"wOF", "a font"),
    (b"\0\1\0\0", "a font"),
)  # fmt: skip


class NotText(Exception):
    """Why a file is skipped: its message, which begins in lower case, says so."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """A file's text.

    kind      how it is cut: "prose", "code" or "table"
    encoding  of the text, or the format it was in
    """

    text: str
    kind: str
    encoding: str


def extract(data: bytes, name: str) -> Extracted:
    """The text of a file with this content and name. NotText when there is none."""
    if data[:2] == b"\x1f\x8b":
        data, name = _gunzip(data), name.removesuffix(".gz")
    if b"%PDF-" in data[:1024]:
        from .pdf import read_pdf

        return Extracted(read_pdf(data), "prose", "pdf")
    if data[:4] == b"PK\x03\x04":
        from .office import read_zip

        text, kind = read_zip(data)
        return Extracted(text, "prose", kind)
    decoded = decode(data)
    if decoded is None:
        what = next((what for magic, what in _MAGIC if data.startswith(magic)), "binary")
        raise NotText(f"not text but {what}" if what != "binary" else "not text (binary)")
    text, encoding = decoded
    if not text.strip():
        raise NotText("empty")
    if _RAGSTORE.match(text[:4096]):
        raise NotText("an index of ragstore's")
    return _read_text(text, encoding, data, PurePath(name).suffix.lower())


def _read_text(text: str, encoding: str, data: bytes, suffix: str) -> Extracted:
    if suffix not in _CODE and is_html(text, suffix):
        says_itself = encoding == "cp1252" and len(data) < 4_000_000  # it may name its encoding
        return Extracted(read_html(data if says_itself else text), "prose", "html")
    if suffix == ".ipynb" or (text.lstrip()[:1] == "{" and '"nbformat"' in text[-2000:]):
        notebook = _notebook(text)
        if notebook is not None:
            return Extracted(notebook, "prose", "notebook")
    if suffix in (".csv", ".tsv") and _is_table(text):
        return Extracted(text, "table", encoding)
    if suffix in _CODE or text.startswith("#!"):
        return Extracted(text, "code", encoding)
    return Extracted(text, "prose", encoding)


def is_html(text: str, suffix: str = "") -> bool:
    return _HTML.match(text[:4096]) is not None or (
        suffix in (".html", ".htm", ".xhtml") and len(_TAG.findall(text[:20_000])) > 2
    )


def read_html(page: str | bytes) -> str:
    """A page as Markdown."""
    from .page import read_page

    text = read_page(page)
    if not text.strip():
        raise NotText("a page without text")
    return text


def _gunzip(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        unpacked = unpacker.decompress(data, MAX_BYTES + 1)
    except zlib.error as error:
        raise NotText("a damaged gzip file") from error
    if len(unpacked) > MAX_BYTES:
        raise NotText(f"larger than {MAX_BYTES // 1_000_000} MB when unpacked")
    return unpacked


def _notebook(text: str) -> str | None:
    """The cells of a Jupyter notebook: text as it is, code and its printed output in fences."""
    try:
        cells = json.loads(text)["cells"]
        parts = []
        for cell in cells:
            source = _joined(cell.get("source", ""))
            if cell.get("cell_type") != "code":
                parts.append(source)
                continue
            parts.append(f"```\n{source}\n```")
            for output in cell.get("outputs", ()):
                shown = output.get("text") or (output.get("data") or {}).get("text/plain") or ""
                if shown := _joined(shown).strip():
                    parts.append(shown[:10_000])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return "\n\n".join(part for part in parts if part.strip())


def _joined(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(map(str, lines))


def _is_table(text: str) -> bool:
    """Whether a row is a line: a chunk may end after each."""
    try:
        rows = list(csv.reader(text[:20_000].splitlines()))
    except csv.Error:
        return False
    return len(rows) > 1 and "\n" not in "".join(cell for row in rows[:-1] for cell in row)
