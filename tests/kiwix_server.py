"""A Kiwix library on a real socket, its bad days included: the catalogue, Metalink files, an archive on two mirrors.

with KiwixServer(PAYLOAD) as server:
    server.first = [reset(1000)]      # what the first mirror does on its next requests; after them it behaves
    Catalogue(server.catalogue).find(NAME)
"""

import hashlib
import re
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

NAME, DATE = "wikipedia_xx_all_nopic", "2026-01"
FILE = f"{NAME}_{DATE}.zim"


class KiwixServer:
    """`first` and `second` are what the mirrors do on their next requests; `requests` has those for the archive."""

    def __init__(self, payload, *, entries=None):
        self.payload = payload
        self.first, self.second, self.requests = [], [], []
        self.sha256 = hashlib.sha256(payload).hexdigest()
        self.size_bytes = len(payload)
        self.piece_bytes = 0
        self.meta4_status = 200
        self.sidecar = False
        self.feed = None
        self.entries = entries or [entry(NAME.removesuffix("_nopic"), "nopic", DATE, len(payload))]
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.answer(self)

            do_HEAD = do_GET

            def log_message(self, *_):
                pass

            def send(self, body, status=200, **headers):
                self.send_response(status)
                for name, value in {"Content-Length": len(body), **headers}.items():
                    self.send_header(name.replace("_", "-"), str(value))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def reset(self):
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # of connections that were cut

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def catalogue(self):
        return f"{self.url}/catalog/v2"

    def answer(self, http):
        path, query = urlsplit(http.path).path, parse_qs(urlsplit(http.path).query)
        if path == "/catalog/v2/entries":
            http.send(self.feed or self._feed(query), Content_Type="application/atom+xml;profile=opds-catalog")
        elif path == f"/zim/{FILE}.meta4":
            http.send(self._metalink() if self.meta4_status == 200 else b"no", self.meta4_status)
        elif path == f"/zim/{FILE}.sha256" and self.sidecar:
            http.send(f"{self.sha256}  {FILE}\n".encode())
        elif path in (f"/first/{FILE}", f"/second/{FILE}", f"/zim/{FILE}"):
            self._archive(http, path.split("/")[1])
        else:
            http.send(b"not found", 404)

    def _archive(self, http, mirror):
        given = re.fullmatch(r"bytes=(\d+)-", http.headers.get("Range", ""))
        start = int(given[1]) if given else None
        if http.command == "GET":
            self.requests.append((mirror, start))
        script = {"first": self.first, "second": self.second}.get(mirror, [])
        (script.pop(0) if script else behaves)(http, self.payload, start)

    def _feed(self, query):
        name, words = query.get("name", [None])[0], query.get("q", [""])[0].lower().split()
        language = query.get("lang", [None])[0]
        found = [
            each
            for each in self.entries
            if (name is None or f"<name>{name}</name>" in each)
            and all(word in each.lower() for word in words)
            and (language is None or f"<language>{language}</language>" in each)
        ]
        start, count = int(query.get("start", ["0"])[0]), int(query.get("count", ["10"])[0])
        shown = "".join(found[start : start + count])
        return f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/terms/"
      xmlns:opds="https://specs.opds.io/opds-1.2" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
  <id>12345678-0000-0000-0000-000000000000</id><title>Filtered Entries</title><updated>2026-02-01T00:00:00Z</updated>
  <totalResults>{len(found)}</totalResults><startIndex>{start}</startIndex><itemsPerPage>{count}</itemsPerPage>
  {shown}</feed>""".encode()

    def _metalink(self):
        pieces = ""
        if self.piece_bytes:
            starts = range(0, len(self.payload), self.piece_bytes)
            sums = [hashlib.sha1(self.payload[each : each + self.piece_bytes]).hexdigest() for each in starts]
            hashes = "".join(f"<hash>{each}</hash>" for each in sums)
            pieces = f'<pieces length="{self.piece_bytes}" type="sha-1">{hashes}</pieces>'
        return f"""<?xml version="1.0" encoding="UTF-8"?>
<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="{FILE}"><size>{self.size_bytes}</size>
  <hash type="md5">00000000000000000000000000000000</hash><hash type="sha-256">{self.sha256}</hash>{pieces}
  <url location="us" priority="2">{self.url}/second/{FILE}</url>
  <url location="fr" priority="1">{self.url}/first/{FILE}</url></file></metalink>""".encode()


def entry(name, flavour, date, size_bytes, *, title="All of it", language="xxx", href=None):
    """An entry as the library has them: its size is rounded to a kilobyte, and leads to a Metalink file."""
    href = href or f"/zim/{name}_{flavour}_{date}.zim.meta4"
    return f"""<entry><id>urn:uuid:0</id><title>{escape(title)}</title><updated>{date}-13T00:00:00Z</updated>
  <summary>An encyclopedia to be downloaded</summary><language>{language}</language><name>{name}</name>
  <flavour>{flavour}</flavour><category>wikipedia</category><tags>wikipedia;_pictures:no</tags>
  <articleCount>4321</articleCount><mediaCount>5</mediaCount>
  <link rel="http://opds-spec.org/image/thumbnail" href="/illustration/0/?size=48" type="image/png"/>
  <link type="text/html" href="/content/{name}"/>
  <author><name>Many</name></author><publisher><name>openZIM</name></publisher>
  <link rel="http://opds-spec.org/acquisition/open-access" type="application/x-zim" href="{escape(href)}"
        length="{size_bytes // 1024 * 1024}"/></entry>"""


# What a mirror does on a request: (the request, what it has, where the range begins or None)


def behaves(http, payload, start):
    if start is None:
        http.send(payload, Accept_Ranges="bytes")
    elif start >= len(payload):
        http.send(b"", 416)
    else:
        http.send(payload[start:], 206, Content_Range=f"bytes {start}-{len(payload) - 1}/{len(payload)}")


def ignores_ranges(http, payload, start):
    http.send(payload)


def status(code, body=b"sorry", **headers):
    return lambda http, payload, start: http.send(body, code, **headers)


def cut(after, how):
    """Sends `after` bytes of what was asked for, then resets or closes the connection."""

    def answer(http, payload, start):
        start = start or 0
        http.send_response(206 if start else 200)
        http.send_header("Content-Length", str(len(payload) - start))
        if start:
            http.send_header("Content-Range", f"bytes {start}-{len(payload) - 1}/{len(payload)}")
        http.end_headers()
        http.wfile.write(payload[start : start + after])
        http.wfile.flush()
        http.reset() if how == "reset" else setattr(http, "close_connection", True)

    return answer


def refuses(http, payload, start):
    http.reset()


def has_another(change):
    """Sends another file, as `change` makes it of the right one."""
    return lambda http, payload, start: behaves(http, change(payload), start)


def redirects(to):
    return lambda http, payload, start: http.send(b"", 302, Location=to)


def wrong_range(http, payload, start):
    http.send(payload[100:], 206, Content_Range=f"bytes 100-{len(payload) - 1}/{len(payload)}")


def in_chunks(body):
    """Without saying how much, as a proxy's page of login comes."""

    def answer(http, payload, start):
        http.send_response(200)
        http.send_header("Content-Type", "text/html" if body else "application/octet-stream")
        http.send_header("Transfer-Encoding", "chunked")
        http.end_headers()
        sent = body or payload
        http.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(sent), sent))

    return answer
