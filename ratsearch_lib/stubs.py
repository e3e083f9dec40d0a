"""Pages that only send their reader on: mwoffliner writes redirects to a section so."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

MAX_STUB_BYTES = 4096  # such a page is a few hundred bytes long
# content="0;URL='./Alzheimer's_disease#Names'": the quotation ends where the attribute does.
REFRESH = re.compile(
    r"""<meta\s(?=[^>]*http-equiv\s*=\s*["']?refresh)[^>]*?"""
    r"""content\s*=\s*(?:"([^">]*)"|'([^'>]*)'|"(.*?)"\s*/?>|'(.*?)'\s*/?>)""",
    re.I,
)
URL = re.compile(r"""url\s*=\s*(?:'(.*)'|"(.*)"|(.*?))\s*$""", re.I | re.S)
ELSEWHERE = re.compile(r"[a-z][a-z+.-]*://", re.I)


def sends_to(page: str) -> tuple[str, str] | None:
    """Link (as it is written, without the fragment) and section of a page's refresh; None if it stays or leaves.

    >>> sends_to('<meta http-equiv="refresh" content="0;URL=./Oxygen#Ozone_layer" />')
    ('./Oxygen', 'Ozone layer')
    """
    meta = REFRESH.search(page)
    url = meta and URL.search(html.unescape(next(group for group in meta.groups() if group is not None)))
    if not url:
        return None
    link, _, fragment = next(group for group in url.groups() if group is not None).strip().partition("#")
    if not link or ELSEWHERE.match(link):
        return None
    return link, unquote(fragment).replace("_", " ")
