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
    sections = [parts for each in plain if (parts := without_section(each))[1]]
    seen = set()
    for each, section in whole + sections:
        first = each[:1]
        for variant in (each, first.upper() + each[1:], first.lower() + each[1:]):
            if variant and (variant, section) not in seen:
                seen.add((variant, section))
                yield variant, section


def without_section(name: str) -> tuple[str, str]:
    """Title and section of ``Title#Section``; "C#" is a title.

    >>> without_section("Oxygen#Early_history"), without_section("C#")
    (('Oxygen', 'Early history'), ('C#', ''))
    """
    head, _, fragment = name.rpartition("#")
    section = fragment.replace("_", " ").strip()
    return (head.strip(), section) if head.strip("# ") and section else (name, "")


def unquoted(name: str) -> str:
    """`name` without the quotation marks that a model puts around all of it.

    >>> unquoted('"Oxygen"'), unquoted("'Salem's Lot")
    ('Oxygen', "'Salem's Lot")
    """
    for left, right in ('""', "''", "“”", "«»", "„“", "``"):
        if len(name) > 1 and name[0] == left and name[-1] == right:
            return name[1:-1].strip()
    return name
