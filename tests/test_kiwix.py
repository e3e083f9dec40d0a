"""The Kiwix library: what its catalogue says, and downloads that end right whatever the mirrors do."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from ratsearch_lib.cli import main
from ratsearch_lib.errors import DownloadError
from ratsearch_lib.kiwix import Catalogue, CatalogueEntry, download, older_editions
from ratsearch_lib.kiwix.catalogue import file_name, parse

from .kiwix_server import (
    FILE,
    NAME,
    KiwixServer,
    cut,
    entry,
    has_another,
    ignores_ranges,
    in_chunks,
    redirects,
    refuses,
    status,
    wrong_range,
)
from .zims import make_archive

PAYLOAD = bytes(range(256)) * 1200 + b"the end"  # 307,207 bytes
SIZE = len(PAYLOAD)
PAGE = b"<html><body>Please log in to this network.</body></html>"
DAMAGED = PAYLOAD[:200_000] + b"\0" + PAYLOAD[200_001:]
HALF = 150_000


@pytest.fixture
def server():
    with KiwixServer(PAYLOAD) as server:
        yield server


@pytest.fixture
def part(tmp_path):
    """Half of the archive, from an interrupted download."""
    part = tmp_path / f"{FILE}.part"
    part.write_bytes(PAYLOAD[:HALF])
    return part


def fetched(server, folder, **more):
    found = CatalogueEntry(NAME, "2026-01", "", "", (), 0, 0, f"{server.url}/zim/{FILE}.meta4")
    return download(found, folder, **more)


def always(answer):
    return [answer] * 20


class TestCatalogue:
    def test_entry(self, server):
        (found,) = Catalogue(server.catalogue).search("encyclopedia")
        assert found == CatalogueEntry(
            name=NAME,
            date="2026-01",
            title="All of it",
            summary="An encyclopedia to be downloaded",
            languages=("xxx",),
            size_bytes=SIZE // 1024 * 1024,
            article_count=4321,
            url=f"{server.url}/zim/{FILE}.meta4",
        )

    def test_language_of_two_letters(self):
        entries = [entry("wikipedia_de_all", "maxi", "2026-01", 1, language="deu"), entry("w_en_all", "maxi", "x", 1)]
        with KiwixServer(PAYLOAD, entries=entries) as server:
            assert [each.name for each in Catalogue(server.catalogue).search(language="de")] == [
                "wikipedia_de_all_maxi"
            ]

    def test_more_than_a_page(self):
        entries = [entry(f"book{n}", "maxi", "2026-01", 1) for n in range(250)]
        with KiwixServer(PAYLOAD, entries=entries) as server:
            catalogue = Catalogue(server.catalogue)
            assert len(catalogue.search(limit=1000)) == 250
            assert len(catalogue.search(limit=7)) == 7

    def test_newest_edition_unless_a_date_is_given(self):
        dates = ("2025-08", "2026-01", "2025-11")
        with KiwixServer(PAYLOAD, entries=[entry("wikipedia_xx_all", "nopic", each, 1) for each in dates]) as server:
            catalogue = Catalogue(server.catalogue)
            assert catalogue.find(NAME).date == "2026-01"
            assert catalogue.find(f"{NAME}_2025-11").date == "2025-11"
            assert catalogue.find(f"{NAME}_2025-11.zim").date == "2025-11"
            with pytest.raises(DownloadError, match=f"no archive named 'wikipedia_xx_all_maxi'. It has: {NAME}"):
                catalogue.find("wikipedia_xx_all_maxi")

    def test_name_that_is_nowhere(self, server):
        with pytest.raises(DownloadError, match=r"no archive named 'cheese'\. `ratsearch zim search WORD`"):
            Catalogue(server.catalogue).find("cheese")

    @pytest.mark.parametrize("href", ["/zim/../../.bashrc", "/zim/a%2Fb.zim", "/x/.zim", "/x/-rf.exe", "/x/a%00.zim"])
    def test_names_that_are_no_files_are_left_out(self, href):
        entries = [entry("evil", "", "2026-01", 1, href=href), entry("good", "maxi", "2026-01", 1)]
        with KiwixServer(PAYLOAD, entries=entries) as server:
            assert [each.name for each in Catalogue(server.catalogue).search()] == ["good_maxi"]

    @pytest.mark.parametrize("feed", [b"", PAGE, b"{}", b"<feed", b"<?xml version='1.0' encoding='no'?><feed/>",
                                      b"<!DOCTYPE feed [<!ENTITY a 'b'>]><feed>&a;</feed>"])  # fmt: skip
    def test_what_is_no_catalogue(self, server, feed):
        server.feed = feed or b" "
        with pytest.raises(DownloadError, match="does not answer with a catalogue"):
            Catalogue(server.catalogue).search()

    def test_server_that_is_not_there(self):
        with pytest.raises(DownloadError, match=r"127\.0\.0\.1:9 cannot be reached"):
            Catalogue("http://127.0.0.1:9/catalog").search()
        with pytest.raises(DownloadError, match="no catalogue's address"):
            Catalogue("file:///etc")

    @hypothesis.given(st.text())
    def test_any_name(self, text):
        """It is a plain name, or refused."""
        try:
            name = file_name(f"http://x/{text}")
        except (DownloadError, ValueError):
            return
        assert name.endswith(".zim")
        assert Path(name).name == name
        assert name[0] not in ".-"

    @hypothesis.given(st.binary())
    def test_any_bytes(self, body):
        with suppress(DownloadError):
            assert parse(body, "feed", "x").tag.endswith("feed")


class TestGoodDays:
    def test_whole(self, server, tmp_path):
        seen = []
        path = fetched(server, tmp_path, progress=lambda done, total: seen.append((done, total)))
        assert path == tmp_path / FILE
        assert path.read_bytes() == PAYLOAD
        assert os.listdir(tmp_path) == [FILE]
        assert seen[0] == (0, SIZE)
        assert seen[-1] == (SIZE, SIZE)
        assert seen == sorted(seen)
        assert server.requests == [("first", None)]  # the mirror of the first priority
        fetched(server, tmp_path)
        assert len(server.requests) == 1  # it is there

    def test_resumed(self, server, tmp_path, part):
        assert fetched(server, tmp_path).read_bytes() == PAYLOAD
        assert server.requests == [("first", HALF)]
        assert not part.exists()

    def test_older_edition_only_on_request(self, server, tmp_path):
        old, other = tmp_path / f"{NAME}_2025-08.zim", tmp_path / "wikipedia_xx_all_maxi_2025-08.zim"
        for each in (old, other):
            each.write_bytes(b"old")
        (tmp_path / f"{old.name}.ratsearch").mkdir()
        path = fetched(server, tmp_path)
        assert older_editions(path) == [old]
        assert old.exists()
        fetched(server, tmp_path, replace=True)
        assert sorted(os.listdir(tmp_path)) == sorted([FILE, other.name])

    def test_simple_mirror_with_a_sidecar(self, server, tmp_path):
        server.meta4_status, server.sidecar = 404, True
        assert fetched(server, tmp_path).read_bytes() == PAYLOAD

    def test_without_a_checksum_nothing_is_downloaded(self, server, tmp_path):
        server.meta4_status = 404
        with pytest.raises(DownloadError, match=f"No checksum is published for {FILE}"):
            fetched(server, tmp_path)
        assert os.listdir(tmp_path) == []

    def test_disk_too_small(self, server, tmp_path):
        server.size_bytes = 10**18
        with pytest.raises(DownloadError, match=r"needs 1,000,000,000\.1 GB more, and .* GB free"):
            fetched(server, tmp_path)

    def test_folder_that_cannot_be_written(self, server, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(DownloadError, match="cannot be written"):
            fetched(server, tmp_path / "file" / "folder")

    def test_one_at_a_time(self, server, tmp_path, part):
        fcntl = pytest.importorskip("fcntl")
        with part.open("rb") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            with pytest.raises(DownloadError, match="is being written by another program"):
                fetched(server, tmp_path)
        assert part.read_bytes() == PAYLOAD[:HALF]


# What both mirrors do, from a half-finished download on: the first in the list of each, then the rest.
RECOVERED = {
    "range not supported": ([ignores_ranges], []),
    "reset at once": ([refuses], []),
    "reset midway": ([cut(70_000, "reset")], []),
    "reset again and again": ([cut(10_000, "reset")] * 8, [cut(10_000, "reset")] * 8),
    "closed midway": ([cut(70_000, "close")], []),
    "closed before the first byte": ([cut(0, "close")], []),
    "a file that is too short": ([has_another(lambda payload: payload[:-5000])], []),
    "a file that is too long": ([has_another(lambda payload: payload + b"more")], []),
    "not found": ([status(404)], []),
    "forbidden": ([status(403)], []),
    "server error": ([status(500)], []),
    "overloaded": ([status(503, Retry_After="3600")], []),
    "range not satisfiable": ([status(416)], []),
    "another range than asked for": ([wrong_range], []),
    "a range without saying which": ([status(206, PAYLOAD[HALF:])], []),
    "a page of login": ([status(200, PAGE, Content_Type="text/html")], []),
    "a page of login, of unknown length": ([in_chunks(PAGE)], []),
    "the archive, of unknown length": ([in_chunks(b"")], []),
    "redirect in a circle": (always(redirects(f"/first/{FILE}")), []),
    "redirect to nowhere": ([redirects("http://127.0.0.1:9/x.zim")], []),
    "redirect to another mirror": ([redirects(f"/second/{FILE}")], []),
    "redirect to no web address": ([redirects("file:///etc/passwd")], []),
    "compressed on the way": ([status(200, PAYLOAD, Content_Encoding="gzip")], []),
    "damaged on one mirror": ([has_another(lambda payload: DAMAGED)], []),
}
ANEW = ("reset midway", "a file that is too long", "a page of login, of unknown length", "damaged on one mirror")
# Where neither mirror, nor the library's own server, recovers.
LOST = {
    "gone everywhere": status(404),
    "always reset": refuses,
    "always a page of login": in_chunks(PAGE),
    "always another file": has_another(lambda payload: payload[:-1]),
    "always the wrong range": wrong_range,
}


class TestBadDays:
    @pytest.mark.parametrize(
        ("fault", "begun"), [*((each, True) for each in RECOVERED), *((each, False) for each in ANEW)]
    )
    def test_complete_and_verified(self, server, tmp_path, fault, begun):
        if begun:
            (tmp_path / f"{FILE}.part").write_bytes(PAYLOAD[:HALF])
        server.first, server.second = map(list, RECOVERED[fault])
        assert fetched(server, tmp_path).read_bytes() == PAYLOAD
        assert os.listdir(tmp_path) == [FILE]

    @pytest.mark.parametrize("fault", LOST)
    def test_clear_error_and_resumed_later(self, server, tmp_path, part, fault):
        server.first, server.second = always(LOST[fault]), always(LOST[fault])
        server.payload_was, server.payload = server.payload, b""
        with pytest.raises(DownloadError, match=r"could not be downloaded \(.*150,000 of 307,207 bytes are kept"):
            fetched(server, tmp_path)
        assert part.read_bytes() == PAYLOAD[:HALF]
        server.first, server.second, server.payload = [], [], server.payload_was
        assert fetched(server, tmp_path).read_bytes() == PAYLOAD
        assert server.requests[-1] == ("first", HALF)

    def test_damaged_everywhere(self, server, tmp_path):
        """What is sound stays: five pieces of 40,000 bytes, before the damage at 200,000."""
        server.piece_bytes = 40_000
        published = server._metalink()
        server._metalink = lambda: published
        server.payload = DAMAGED
        with pytest.raises(DownloadError, match=r"came in damaged.*published is .* 200,000 bytes of it are sound"):
            fetched(server, tmp_path)
        assert (tmp_path / f"{FILE}.part").read_bytes() == PAYLOAD[:200_000]
        server.payload = PAYLOAD
        assert fetched(server, tmp_path).read_bytes() == PAYLOAD
        assert server.requests[-1] == ("first", 200_000)

    def test_published_sum_is_wrong(self, server, tmp_path):
        server.sha256 = "0" * 64
        with pytest.raises(DownloadError, match="came in damaged"):
            fetched(server, tmp_path)
        assert not (tmp_path / FILE).exists()

    @pytest.mark.parametrize("text", ["<metalink/>", "<x/>", "no"])
    def test_description_that_is_none(self, server, tmp_path, text):
        server._metalink = lambda: text.encode()
        with pytest.raises(DownloadError, match=r"lacks the size|No checksum is published"):
            fetched(server, tmp_path)

    def test_part_that_is_too_long(self, server, tmp_path):
        (tmp_path / f"{FILE}.part").write_bytes(PAYLOAD + b"of something else")
        assert fetched(server, tmp_path).read_bytes() == PAYLOAD


@pytest.fixture
def run(capsys, monkeypatch, server):
    monkeypatch.setenv("RATSEARCH_CATALOG", server.catalogue)
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments):
        status = main(["zim", *map(str, arguments)])
        return status, *capsys.readouterr()

    yield run
    signal.signal(signal.SIGTERM, before)


class TestCommands:
    def test_search(self, run):
        assert run("search", "encyclopedia") == (0, f"{NAME}  2026-01  xxx  0.3 MB  4,321 articles  All of it\n", "")
        assert run("search", "cheese")[0] == 1
        found = json.loads(run("search", "--json")[1])
        assert [each["name"] for each in found] == [NAME]

    def test_get_list_info(self, run, tmp_path):
        status, out, err = run("get", NAME, "--to", tmp_path)
        assert (status, out) == (0, f"{tmp_path / FILE}\n")
        assert f"{FILE}: All of it, 2026-01, 0.3 MB, 4,321 articles\n" in err
        status, out, err = run("list", tmp_path)
        assert (status, out) == (1, "")
        assert "cannot be opened as a ZIM archive" in err  # these bytes are none
        copy = tmp_path / "small.zim"
        make_archive(copy, [("p", "Cheese", "<p>Rats are said to like it.</p>")])
        assert run("list", tmp_path)[1].startswith(f"{copy}  ")
        status, out, _ = run("info", copy, "--verify")
        assert status == 0
        assert f"file: {copy}\n" in out
        assert "checksum: right\n" in out

    def test_get_what_is_not_there(self, run, tmp_path):
        status, out, err = run("get", "cheese", "--to", tmp_path)
        assert (status, out) == (1, "")
        assert err.startswith("ratsearch: The catalogue has no archive named 'cheese'.")

    @pytest.mark.parametrize("limit", ["0", "-3", "many"])
    def test_limit_that_is_none(self, run, limit):
        with pytest.raises(SystemExit, match="2"):
            run("search", "--limit", limit)

    def test_names_cannot_drive_the_terminal(self, run, server):
        server.entries = [entry("evil", "maxi", "2026-01", 1, title="\u009b2J red \u202e")]
        assert "\x9b" not in run("search")[1]

    def test_killed_and_resumed(self, server, tmp_path):
        """kill -9 midway; the next run asks for the rest alone."""
        held = []

        def holds(http, payload, start):
            http.send_response(200)
            http.send_header("Content-Length", str(len(payload)))
            http.end_headers()
            http.wfile.write(payload[:HALF])
            http.wfile.flush()
            held.append(http)
            http.rfile.read(1)  # until the client is gone

        server.first = [holds]
        environ = {**os.environ, "RATSEARCH_CATALOG": server.catalogue}
        command = [sys.executable, "-m", "ratsearch_lib", "zim", "get", NAME, "--to", str(tmp_path)]
        root = Path(__file__).resolve().parent.parent
        part = tmp_path / f"{FILE}.part"
        with subprocess.Popen(command, cwd=root, env=environ, stderr=subprocess.DEVNULL) as running:
            while not (part.exists() and part.stat().st_size):
                assert running.poll() is None
            running.kill()
        kept = part.stat().st_size
        assert 0 < kept <= HALF
        assert fetched(server, tmp_path).read_bytes() == PAYLOAD
        assert server.requests[-1] == ("first", kept)
