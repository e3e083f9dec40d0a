"""PDF → text by PDFium, in a process of its own: a file that hangs or crashes it, or eats memory, takes nothing along.

python -m ratsearch_lib.documents.pdf < FILE.pdf
"""

from __future__ import annotations

import re
import subprocess
import sys

from .extract import MAX_BYTES, NotText

LIMIT_S = 60
MEMORY_BYTES = 2_000_000_000
MAX_CHARS = 30_000_000
_HYPHEN = re.compile(r"(?<=[^\W\d_])[\ufffe\u00ad-]\n(?=[^\W\d_])")


def read_pdf(data: bytes) -> str:
    """The text of a PDF, page by page. NotText when it has none or cannot be read."""
    if len(data) > MAX_BYTES:
        raise NotText(f"larger than {MAX_BYTES // 1_000_000} MB")
    try:
        done = subprocess.run([sys.executable, "-m", __spec__.name], input=data, capture_output=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise NotText(f"a PDF that takes longer than {LIMIT_S} s to read") from error
    except OSError as error:
        raise NotText(f"a PDF, and no process could be started to read it ({error.strerror})") from error
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode == 3:
        raise NotText(text)
    if done.returncode:
        raise NotText("a PDF that cannot be read: it is damaged")
    if not text.strip():
        raise NotText("a PDF without text: its pages are pictures")
    return text


def main() -> int:
    _limit_memory()
    try:
        import pypdfium2
    except ImportError:
        print("a PDF: reading it takes the package pypdfium2", end="")
        return 3
    try:
        document = pypdfium2.PdfDocument(sys.stdin.buffer.read())
    except pypdfium2.PdfiumError as error:
        print("an encrypted PDF" if "assword" in str(error) else "a PDF that cannot be read: it is damaged", end="")
        return 3
    size = 0
    for page in document:
        try:
            text = page.get_textpage().get_text_range()
        except pypdfium2.PdfiumError:
            continue  # that page is damaged
        text = _HYPHEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).replace("\ufffe", "-").strip()
        size += len(text)
        if size > MAX_CHARS:
            break
        sys.stdout.buffer.write(f"{text}\n\n".encode("utf-8", "replace"))
    return 0


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


if __name__ == "__main__":
    sys.exit(main())
