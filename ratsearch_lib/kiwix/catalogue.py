"""What the Kiwix library has: its OPDS catalogue, and the files that describe a download.

The catalogue is Atom (RFC 4287) with OPDS links (https://specs.opds.io/opds-1.2); a download is described by a Metalink
file (RFC 5854), with its exact size, its SHA-256 and its mirrors. The sizes in the catalogue are rounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree import ElementTree

from ..errors import DownloadError
from ..fetch import Source, open_client, reason

if TYPE_CHECKING:
    import httpx2

CATALOGUE_URL = "https://library.kiwix.org/catalog/v2"
MAX_REPLY_BYTES = 100_000_000  # the whole catalogue is about 10 MB
PAGE = 100
ATOM, METALINK = "{http://www.w3.org/2005/Atom}", "{urn:ietf:params:xml:ns:metalink}"
OPEN_ACCESS = "http://opds-spec.org/acquisition/open-access"
DATED = re.compile(r"(?P<name>.+)_(?P<date>\d{4}-\d{2}\w?)")
FILE_NAME = re.compile(r"\w[\w.+=-]*\.zim", re.ASCII)
# What people write for the languages with the most archives; others are given as ISO 639-3 has them.
LANGUAGES = dict(
    pair.split(":")
    for pair in """ar:ara bn:ben ca:cat cs:ces da:dan de:deu el:ell en:eng es:spa et:est eu:eus fa:fas fi:fin fr:fra
    gl:glg he:heb hi:hin hr:hrv hu:hun hy:hye id:ind it:ita ja:jpn ka:kat ko:kor lt:lit lv:lav ms:msa nl:nld no:nor
    pl:pol pt:por ro:ron ru:rus sk:slk sl:slv sr:srp sv:swe sw:swa ta:tam te:tel th:tha tr:tur uk:ukr ur:urd vi:vie
    zh:zho""".split()
)


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """An archive that can be had.

    name        its file's name without date and ending, as in ``wikipedia_en_all_nopic``
    date        of the edition, as its file's name has it: ``2026-01``, or ``2026-01-13`` where that has none
    languages   ISO 639-3
    size_bytes  rounded to about a kilobyte; 0 if the catalogue does not say
    url         of the archive, or of the Metalink file that describes it
    """

    name: str
    date: str
    title: str
    summary: str
    languages: tuple[str, ...]
    size_bytes: int
    article_count: int
    url: str

    @property
    def file_name(self) -> str:
        return file_name(self.url)


class Catalogue:
    """The catalogue at `url`. Whatever goes wrong in asking it is a DownloadError.

    >>> entry = Catalogue().find("wikipedia_en_all_mini")                                   # doctest: +SKIP
    >>> entry.date, entry.size_bytes // 10**9                                               # doctest: +SKIP
    ('2026-06', 12)
    """

    def __init__(self, url: str = CATALOGUE_URL):
        self.url = url.rstrip("/")
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise DownloadError(f"{url[:200]} is no catalogue's address: one begins with https:// or http://.")

    def search(self, words: str = "", *, language: str = "", limit: int = 50) -> list[CatalogueEntry]:
        """The archives whose title or description has these words, in the catalogue's order.

        `language` is an ISO 639-3 code, or one of the usual ones of two letters.
        """
        wanted = {"q": words} if words else {}
        if language:
            wanted["lang"] = LANGUAGES.get(language.lower(), language.lower())
        with open_client() as client:
            return self._entries(client, wanted, limit)

    def find(self, name: str) -> CatalogueEntry:
        """The newest edition of the archive with this name, or the edition whose date is in the name."""
        stem = name.removesuffix(".zim")
        base = dated[1] if (dated := DATED.fullmatch(stem)) else stem
        near: dict[str, None] = {}
        with open_client() as client:
            # The catalogue's own name is the file's, mostly without its last part, the flavour.
            for wanted in ({"name": base}, {"name": base.rpartition("_")[0]}, {"q": base.replace("_", " ")}):
                if not all(wanted.values()):
                    continue
                entries = self._entries(client, wanted, 1000)
                found = [each for each in entries if stem in (each.name, each.file_name.removesuffix(".zim"))]
                if found:
                    return max(found, key=lambda each: each.date)
                near.update(dict.fromkeys(each.name for each in entries))
        hint = f"It has: {', '.join(list(near)[:8])}." if near else "`ratsearch zim search WORD` lists what there is."
        raise DownloadError(f"The catalogue has no archive named {name[:100]!r}. {hint}")

    def _entries(self, client: httpx2.Client, wanted: dict[str, str], limit: int) -> list[CatalogueEntry]:
        found: dict[str, CatalogueEntry] = {}
        start = 0
        while len(found) < limit:
            asked = {**wanted, "start": str(start), "count": str(min(PAGE, limit))}
            feed = parse(fetch(client, f"{self.url}/entries", asked), "feed", self.url)
            entries = feed.findall(f"{ATOM}entry")
            before = len(found)
            for each in entries:
                if (entry := _entry(each, f"{self.url}/entries")) is not None:
                    found[entry.url] = entry
            start += len(entries)
            if not entries or len(found) == before or len(entries) < PAGE:  # the end; or it takes no "start"
                break
        return list(found.values())[:limit]


def source(client: httpx2.Client, entry: CatalogueEntry) -> Source:
    """How to get an entry. DownloadError where no checksum is published for it."""
    archive_url = entry.url.removesuffix(".meta4")
    name = file_name(archive_url)
    try:
        metalink = parse(fetch(client, archive_url + ".meta4"), "metalink", archive_url)
    except DownloadError as error:
        return _from_sidecar(client, archive_url, name, error)
    file = metalink.find(f"{METALINK}file")
    text = {} if file is None else {each.tag.removeprefix(METALINK): (each.text or "").strip() for each in file}
    hashes = {} if file is None else {each.get("type", ""): (each.text or "") for each in file.iter(f"{METALINK}hash")}
    sha256 = hashes.get("sha-256", "").strip().lower()
    if not (text.get("size", "").isdigit() and re.fullmatch("[0-9a-f]{64}", sha256)):
        raise DownloadError(f"{archive_url}.meta4 lacks the size or the SHA-256 of {name}: try again later.")
    mirrors = sorted(file.findall(f"{METALINK}url"), key=_priority)
    urls = dict.fromkeys([*((each.text or "").strip() for each in mirrors), archive_url])
    pieces = file.find(f"{METALINK}pieces")
    length, sums = 0, ()
    if pieces is not None and pieces.get("type") == "sha-1" and pieces.get("length", "").isdigit():
        length = int(pieces.get("length"))
        sums = tuple((each.text or "").strip().lower() for each in pieces.findall(f"{METALINK}hash"))
    if length <= 0 or len(sums) != -(-int(text["size"]) // length):
        length, sums = 0, ()
    return Source(name, int(text["size"]), sha256, tuple(url for url in urls if _is_web(url)), length, sums)


def _from_sidecar(client: httpx2.Client, url: str, name: str, error: DownloadError) -> Source:
    """As simple mirrors have it: FILE.zim.sha256 beside FILE.zim."""
    import httpx2

    try:
        words = fetch(client, url + ".sha256").decode("ascii", "replace").split()
        head = client.head(url, headers={"Accept-Encoding": "identity"})
        size = head.headers.get("content-length", "")
    except (DownloadError, httpx2.HTTPError) as problem:
        raise DownloadError(f"No checksum is published for {name}, so it is not downloaded. ({error})") from problem
    if not (words and re.fullmatch("[0-9a-fA-F]{64}", words[0]) and size.isdigit() and head.is_success):
        raise DownloadError(f"No checksum or size is published for {name}, so it is not downloaded. ({error})")
    return Source(name, int(size), words[0].lower(), (url,))


def file_name(url: str) -> str:
    """The name of the file at `url`. DownloadError where that would not be a plain name of a ZIM file."""
    name = unquote(urlsplit(url).path.rpartition("/")[2]).removesuffix(".meta4")
    if not FILE_NAME.fullmatch(name) or len(name) > 200:
        raise DownloadError(f"The catalogue names a file {name[:80]!r}, which is no plain name of a ZIM file.")
    return name


def _priority(url: ElementTree.Element) -> int:
    given = url.get("priority", "")
    return int(given) if given.isdigit() else 1_000_000


def _is_web(url: str) -> bool:
    return urlsplit(url).scheme in ("http", "https")


def _entry(element: ElementTree.Element, base: str) -> CatalogueEntry | None:
    """An entry of the feed; None if nothing of it can be downloaded."""

    def text(tag: str) -> str:
        return " ".join((element.findtext(ATOM + tag) or "").split())

    for link in element.findall(f"{ATOM}link"):
        kind = link.get("type", "")
        if link.get("rel") == OPEN_ACCESS and (kind == "application/x-zim" or not kind):
            url = urljoin(base, link.get("href", ""))
            break
    else:
        return None
    try:
        stem = file_name(url).removesuffix(".zim")
    except DownloadError:
        return None
    dated = DATED.fullmatch(stem)
    length, articles = link.get("length", ""), text("articleCount")
    return CatalogueEntry(
        name=dated["name"] if dated else stem,
        date=dated["date"] if dated else text("updated")[:10],
        title=text("title"),
        summary=text("summary"),
        languages=tuple(filter(None, text("language").replace(" ", "").split(","))),
        size_bytes=int(length) if length.isdigit() else 0,
        article_count=int(articles) if articles.isdigit() else 0,
        url=url,
    )


# HTTP


def fetch(client: httpx2.Client, url: str, parameters: dict[str, str] | None = None) -> bytes:
    """What is at `url`, whole. DownloadError, with what happened, if it cannot be had."""
    import httpx2

    host = urlsplit(url).netloc.rpartition("@")[2]
    try:
        with client.stream("GET", url, params=parameters or {}) as reply:
            if not reply.is_success:
                raise DownloadError(f"{host} answers with HTTP {reply.status_code}: try again later.")
            body = bytearray()
            for block in reply.iter_bytes():
                body += block
                if len(body) > MAX_REPLY_BYTES:
                    raise DownloadError(f"{host} sends more than a catalogue is: check the address.")
            return bytes(body)
    except httpx2.HTTPError as error:
        raise DownloadError(
            f"{host} cannot be reached ({reason(error)}): check the connection and the address."
        ) from error


def parse(body: bytes, root: str, url: str) -> ElementTree.Element:
    """The XML of a feed or a Metalink file. DownloadError for anything else, and for what defines entities."""
    if b"<!DOCTYPE" in body[:10_000].upper() or b"<!ENTITY" in body:
        raise DownloadError(f"{url} does not answer with a catalogue: check the address.")
    try:
        element = ElementTree.fromstring(body)
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # LookupError: an unknown encoding
        raise DownloadError(f"{url} does not answer with a catalogue ({error}): check the address.") from error
    if element.tag.rpartition("}")[2] != root:
        raise DownloadError(f"{url} does not answer with a catalogue: check the address.")
    return element
