"""What a title or path, as people and models write it, may stand for."""

from __future__ import annotations

import html
from collections.abc import Iterator
from urllib.parse import unquote


def spellings(name: str) -> Iterator[tuple[str, str]]:
    """What a title or path as people and models write it may stand for: (name, section), the likeliest first.

    >>> list(spellings("at%26t"))
    [('at%26t', ''), ('At%26t', ''), ('at&t', ''), ('At&t', '')]
    """
    written = " ".join(name.encode("utf-8", "ignore").decode().split())  # lone surrogates are in no title
    plain = dict.fromkeys((written, unquote(written), html.unescape(written), html.unescape(unquote(written))))
    whole = [(each, "") for each in plain]
    parts = [each.rpartition("#") for each in plain if "#" in each.strip("#")]
    sections = [(head.strip(), fragment.replace("_", " ").strip()) for head, _, fragment in parts]
    seen = set()
    for each, section in whole + sections:
        first = each[:1]
        for variant in (each, first.upper() + each[1:], first.lower() + each[1:]):
            if variant and (variant, section) not in seen:
                seen.add((variant, section))
                yield variant, section
