"""Documents that are ZIP files of XML: DOCX, PPTX, ODT and EPUB. What is unpacked is counted: some are bombs."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree import ElementTree

from .extract import MAX_BYTES, NotText, read_html

MAX_MEMBERS = 20_000
_LZMA = (zipfile.lzma.LZMAError,) if zipfile.lzma else ()  # some Pythons are built without
_CHUNK = 1 << 20
_HEADING = re.compile(r"heading ?([1-6])$", re.I)


class _Unpacker:
    """The members of a ZIP file, as long as they stay below the limit together."""

    def __init__(self, data: bytes):
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self.names = self._zip.namelist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
            raise NotText("a damaged ZIP file") from error
        if len(self.names) > MAX_MEMBERS:
            raise NotText(f"a ZIP file of {len(self.names):,} files")
        self._left = MAX_BYTES

    def read(self, name: str) -> bytes:
        parts = []
        try:
            with self._zip.open(name) as member:
                while part := member.read(min(_CHUNK, self._left + 1)):
                    self._left -= len(part)
                    if self._left < 0:
                        raise NotText(f"larger than {MAX_BYTES // 1_000_000} MB when unpacked")
                    parts.append(part)
        except KeyError as error:
            raise NotText("damaged: a part of it is missing") from error
        except (zipfile.BadZipFile, zlib.error, *_LZMA, ValueError, NotImplementedError, OSError, EOFError) as error:
            raise NotText("a damaged ZIP file") from error
        except RuntimeError as error:  # that is how zipfile says it
            raise NotText("encrypted") from error
        return b"".join(parts)

    def xml(self, name: str) -> ElementTree.Element:
        data = self.read(name)
        if b"<!ENTITY" in data:  # none of these formats has any use for them, except to swell
            raise NotText("XML that defines entities")
        try:
            return ElementTree.fromstring(data)
        except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as error:
            raise NotText("damaged: its XML cannot be read") from error


def read_zip(data: bytes) -> tuple[str, str]:
    """The text of the document that a ZIP file is, and the format's name. NotText when it is none."""
    files = _Unpacker(data)
    names = set(files.names)
    if "word/document.xml" in names:
        return _some("\n\n".join(_docx(files))), "docx"
    if "META-INF/container.xml" in names:
        return _some("\n\n".join(_epub(files))), "epub"
    if "ppt/presentation.xml" in names:
        return _some("\n\n".join(_pptx(files))), "pptx"
    if "content.xml" in names:
        return _some("\n\n".join(_odt(files))), "odt"
    raise NotText("an archive (ZIP)")


def _some(text: str) -> str:
    if not text.strip():
        raise NotText("a document without text")
    return text


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _docx(files: _Unpacker) -> Iterator[str]:
    """Paragraphs and table rows in order, then the notes."""
    for name in ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml"):
        if name in files.names:
            root = files.xml(name)
            body = next((child for child in root if _local(child) == "body"), root)
            for child in body:
                yield from _docx_block(child)


def _docx_block(element: ElementTree.Element) -> Iterator[str]:
    kind = _local(element)
    if kind == "p":
        if text := _runs(element).strip():
            style = next(
                (value for part in element.iter() if _local(part) == "pStyle" for value in part.attrib.values()), ""
            )
            heading = _HEADING.match(style)
            yield f"{'#' * int(heading[1])} {text}" if heading else text
    elif kind == "tbl":
        rows = (
            [" ".join(_runs(cell).split()) for cell in row if _local(cell) == "tc"]
            for row in element
            if _local(row) == "tr"
        )
        if table := "\n".join(" | ".join(row) for row in rows if any(row)):
            yield table
    elif kind in ("sdt", "sdtContent", "footnote", "endnote", "ins", "customXml", "txbxContent"):
        for child in element:
            yield from _docx_block(child)


def _runs(element: ElementTree.Element) -> str:
    """The text in an element; deleted text has another tag than "t"."""
    out = []
    for part in element.iter():
        match _local(part):
            case "t":
                out.append(part.text or "")
            case "tab":
                out.append("\t")
            case "br" | "cr":
                out.append("\n")
            case "p" if out:
                out.append(" ")
    return "".join(out)


def _pptx(files: _Unpacker) -> Iterator[str]:
    slides = [name for name in files.names if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)]
    for name in sorted(slides, key=lambda name: int(re.search(r"\d+", name)[0])):
        paragraphs = (_runs(part).strip() for part in files.xml(name).iter() if _local(part) == "p")
        if slide := "\n".join(paragraph for paragraph in paragraphs if paragraph):
            yield slide


def _odt(files: _Unpacker) -> Iterator[str]:
    for part in files.xml("content.xml").iter():
        if _local(part) in ("p", "h") and (text := "".join(part.itertext()).strip()):
            yield f"# {text}" if _local(part) == "h" else text


def _epub(files: _Unpacker) -> Iterator[str]:
    """The chapters in reading order."""
    roots = [part.get("full-path") for part in files.xml("META-INF/container.xml").iter() if _local(part) == "rootfile"]
    if not roots or not roots[0]:
        raise NotText("damaged: it names no contents")
    package = files.xml(roots[0])
    folder = posixpath.dirname(roots[0])
    items = {part.get("id"): part.get("href", "") for part in package.iter() if _local(part) == "item"}
    for part in package.iter():
        if _local(part) == "itemref" and (href := items.get(part.get("idref"))):
            name = posixpath.normpath(posixpath.join(folder, unquote(href)))
            if name not in files.names:
                continue
            try:
                yield read_html(files.read(name))
            except NotText as reason:
                if "without text" not in str(reason):  # a cover has none
                    raise
