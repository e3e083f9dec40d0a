"""From bytes to text to chunks: formats, encodings, and files that are up to no good."""

import contextlib
import csv
import gzip
import io
import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.documents.chunk import chunks, count_words
from ratsearch_lib.documents.encoding import decode
from ratsearch_lib.documents.extract import MAX_BYTES, NotText, extract

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def zipped(files: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in files.items():
            package.writestr(name, content)
    return out.getvalue()


def docx(body: str) -> bytes:
    document = f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    return zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": document})


def pdf(*lines: str) -> bytes:
    """A PDF of one page, written by hand after ISO 32000."""
    content = "BT /F1 12 Tf 72 720 Td " + " 0 -14 Td ".join(f"({line}) Tj" for line in lines) + " ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj{text}endobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 6\n0000000000 65535 f \n{table}trailer<</Size 6/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF"
    return out + end.encode()


class TestFormats:
    @pytest.mark.parametrize("name", ["README", "a.ini", "a.kt", "a.unknown", ".hidden", "a.txt"])
    def test_text_by_content(self, name):
        assert extract(b"key = value", name).text == "key = value"

    def test_code_is_known(self):
        assert extract(b"fun main() {}", "a.kt").kind == "code"
        assert extract(b"#!/bin/sh\nls", "run").kind == "code"

    def test_html_without_tags(self):
        page = b"<!doctype html><title>T</title><body><h1>Rats</h1><p>They <b>sleep</b>.</p><script>x()</script>"
        file = extract(page, "a.txt")
        assert file.encoding == "html"
        assert "They **sleep**." in file.text or "They sleep." in file.text
        assert "script" not in file.text
        assert "x()" not in file.text

    def test_docx(self):
        body = (
            '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Owls</w:t></w:r></w:p>'
            "<w:p><w:r><w:t>They </w:t></w:r><w:r><w:t>hunt.</w:t></w:r>"
            "<w:del><w:r><w:delText>no</w:delText></w:r></w:del></w:p>"
            "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>"
            "<w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        )
        file = extract(docx(body), "a.docx")
        assert file.text == "# Owls\n\nThey hunt.\n\na | b"
        assert file.encoding == "docx"

    def test_damaged_lzma(self):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as file:
            file.writestr("word/document.xml", "<document/>" + " " * 9000)
        data = bytearray(packed.getvalue())
        data[60:75] = b"\xff" * 15  # within the packed member
        with pytest.raises(NotText, match="damaged ZIP"):
            extract(bytes(data), "a.docx")

    def test_epub_in_reading_order(self):
        package = (
            '<package><manifest><item id="b" href="b%20c.xhtml"/><item id="a" href="a.xhtml"/></manifest>'
            '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
        )
        page = "<html><body><h1>{0}</h1><p>Text of {0}, which is long enough to be one.</p></body></html>"
        text = extract(
            zipped(
                {
                    "META-INF/container.xml": '<container><rootfile full-path="o/p.opf"/></container>',
                    "o/p.opf": package,
                    "o/a.xhtml": page.format("first"),
                    "o/b c.xhtml": page.format("second"),
                }
            ),
            "a.epub",
        ).text
        assert 0 < text.index("Text of first") < text.index("Text of second")

    def test_pdf(self):
        pytest.importorskip("pypdfium2")
        file = extract(pdf("Rats sleep by day.", "Owls hunt at night."), "a.bin")
        assert "Rats sleep by day.\nOwls hunt at night." in file.text
        assert file.encoding == "pdf"

    def test_notebook(self):
        cells = [
            {"cell_type": "markdown", "source": ["# Owls\n", "at night"]},
            {"cell_type": "code", "source": "print(1)", "outputs": [{"text": ["1\n"]}]},
        ]
        text = extract(json.dumps({"cells": cells, "nbformat": 4}).encode(), "a.ipynb").text
        assert text == "# Owls\nat night\n\n```\nprint(1)\n```\n\n1"

    def test_table_rows_keep_their_head(self):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([["name", "age"], *([f"n{i}", i] for i in range(100))])
        file = extract(out.getvalue().encode(), "a.csv")
        assert file.kind == "table"
        parts = chunks(file.text, 20, file.kind)
        assert len(parts) > 2
        assert all(part.startswith("name,age\n") for part in parts)

    def test_gzip(self):
        assert extract(gzip.compress(b"owls"), "a.txt.gz").text == "owls"


class TestRefused:
    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"", "empty"),
            (b" \n ", "empty"),
            (b"\x89PNG\r\n\x1a\n\0\0\0", "a picture"),
            (b"\x7fELF\2\1\1\0\0\0\0", "a program"),
            (b"SQLite format 3\0" + bytes(100), "a database"),
            (bytes(range(256)) * 4, "binary"),
            (b"%PDF-1.7\n garbage", "damaged|pypdfium2"),
            (b"PK\3\4 garbage", "damaged ZIP"),
            (b"\x1f\x8b garbage", "damaged gzip"),
            (zipped({"a.txt": "x"}), "an archive"),
            (zipped({"word/document.xml": "<a>"}), "XML cannot be read"),
            (zipped({"word/document.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}), "entities"),
            (zipped({"META-INF/container.xml": "<a/>"}), "names no contents"),
            (b'{"documents": [{"id": "0123456789abcdef", "path": "x", "chunk": 0}]}', "index of ragstore"),
        ],
    )
    def test_with_a_reason(self, content, reason):
        with pytest.raises(NotText, match=reason):
            extract(content, "a")

    def test_bombs(self):
        """64 MB and more of zeros in some kilobytes."""
        zeros = bytes(MAX_BYTES + 1)
        with pytest.raises(NotText, match="when unpacked"):
            extract(gzip.compress(zeros, 1), "a.gz")
        with pytest.raises(NotText, match="when unpacked"):
            extract(zipped({"word/document.xml": zeros}), "a.docx")

    def test_truncated_pdf(self):
        pytest.importorskip("pypdfium2")
        whole = pdf("Rats sleep by day.")
        for size in (20, 200, len(whole) - 60):
            with contextlib.suppress(NotText):
                extract(whole[:size], "a.pdf")

    @given(st.binary(max_size=300))
    def test_any_bytes(self, content):
        with contextlib.suppress(NotText):
            assert extract(content, "a.txt").text


@pytest.mark.parametrize(
    ("text", "encodings"),
    [
        ("Die Straße führt über die Brücke; größere Fahrzeuge müssen außen herum.", "utf-8 utf-16 utf-16-le latin-1"),
        ("récompense", "utf-8-sig latin-1 utf-32"),
        ("Zażółć gęślą jaźń, a potem idź spać, bo już późno.", "utf-8 cp1250 iso8859-2"),
        ("Крысы живут рядом с человеком уже много веков, и города им нравятся.", "utf-8 cp1251 koi8-r cp866"),
        ("Οι αρουραίοι ζουν κοντά στον άνθρωπο εδώ και αιώνες.", "cp1253"),
        ("העכברים חיים ליד האדם זה מאות שנים", "cp1255"),
        ("تعيش الجرذان بالقرب من الإنسان منذ قرون", "cp1256"),
        ("ネズミは何世紀にもわたって人間の近くに住んでいます。東京は日本の首都です。", "cp932 euc_jp utf-16"),
        ("老鼠与人类一起生活了许多世纪，它们在城市里的数量很多，而且这是一个问题。", "gb18030"),
        ("쥐는 수세기 동안 인간 가까이에서 살아왔다. 서울은 대한민국의 수도이다.", "euc_kr"),
    ],
)
def test_encodings(text, encodings):
    for encoding in encodings.split():
        assert decode(text.encode(encoding))[0] == text, encoding


def test_a_damaged_byte_makes_no_other_encoding():
    data = "Größe und Länge, Höhe und Fülle. ".encode() * 20
    text, encoding = decode(data[:50] + b"\xff" + data[50:])
    assert encoding == "utf-8"
    assert text.count("Länge") >= 19


class TestChunks:
    def test_paragraphs_are_filled_up(self):
        text = "one two\n\nthree four\n\nfive six seven\n\neight"
        assert chunks(text, 4) == ["one two\n\nthree four", "five six seven\n\neight"]

    def test_a_long_paragraph_is_cut_at_sentences(self):
        text = " ".join(f"Sentence number {n} has just seven words." for n in range(50))
        parts = chunks(text, 30)
        assert all(part.endswith(".") for part in parts)
        assert " ".join(part.strip() for part in parts) == text

    def test_a_heading_goes_with_what_follows(self):
        text = "# A\n\n" + "word " * 80 + "\n\n## B\n\n" + "word " * 80
        assert [part.split("\n")[0] for part in chunks(text, 100)] == ["# A", "## B"]

    def test_code_is_cut_at_definitions(self):
        code = "import os\n\n" + "\n".join(f"@cached\ndef f{n}(x):\n    a = 1\n\n    return a\n" for n in range(20))
        parts = chunks(code, 12, "code")
        assert len(parts) > 5
        assert all(part.startswith(("import", "@cached\ndef")) for part in parts)

    @pytest.mark.parametrize("text", ["word " * 50_000, "x" * 500_000, "東京都は首都。" * 10_000, "a b\n" * 20_000])
    def test_nothing_is_larger_than_twice_the_size(self, text):
        parts = chunks(text, 300)
        assert max(map(count_words, parts)) <= 600
        assert max(len(part.split()) for part in parts) <= 600
        assert "".join("".join(parts).split()) == "".join(text.split())

    @given(st.text("ab.\n #東。x-", max_size=400), st.integers(1, 20), st.sampled_from(["prose", "code"]))
    def test_nothing_is_lost(self, text, size, kind):
        parts = chunks(text, size, kind)
        assert "".join("".join(parts).split()) == "".join(text.split())
        assert all(count_words(part) <= 2 * size for part in parts)
