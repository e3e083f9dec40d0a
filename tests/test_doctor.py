"""`ratsearch doctor`: what is sound, and what is not, each with what to do."""

import json
import signal

import pytest

from ratsearch_lib.cli import main
from ratsearch_lib.documents import DocumentStore
from ratsearch_lib.sample import archive_path

from .conformance.server import ScriptedServer, llamacpp_props, models


@pytest.fixture
def doctor(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("RATSEARCH_ZIM", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments):
        status = main(["doctor", "--json", *map(str, arguments)])
        return status, json.loads(capsys.readouterr().out)

    yield run
    signal.signal(signal.SIGTERM, before)


def found(findings, subject):
    return [each for each in findings if each["subject"] == subject]


def test_all_is_well(doctor):
    with ScriptedServer(routes={"GET /v1/models": models("rat-1"), "GET /props": llamacpp_props(tools=True)}) as server:
        status, findings = doctor("--endpoint", server.base_url, "--zim", archive_path())
    assert status == 0
    assert [each["verdict"] for each in found(findings, "Python") + found(findings, "packages")] == ["ok", "ok"]
    (archive,) = found(findings, "archive")
    assert "73 articles" in archive["found"]
    (model,) = found(findings, "model")
    assert model["found"] == f"rat-1 at {server.base_url} calls tools; it has rat-1"
    assert all(each["advice"] for each in findings if each["verdict"] != "ok")


def test_server_that_is_not_there(doctor):
    status, findings = doctor("--endpoint", "http://127.0.0.1:9/v1")
    (model,) = found(findings, "model")
    assert (status, model["verdict"]) == (1, "bad")
    assert model["advice"] == "Start the server, or leave --endpoint and OPENAI_BASE_URL out."


@pytest.mark.parametrize("address", ["::::", "http://user:secret@127.0.0.1:9/v1"])
def test_address_of_no_server(doctor, address):
    status, findings = doctor("--endpoint", address)
    (model,) = found(findings, "model")
    assert (status, model["verdict"]) == (1, "bad")
    assert "secret" not in json.dumps(findings)
    assert found(findings, "disk"), "the rest is looked at too"


def test_archives_that_cannot_be_read(doctor, tmp_path):
    broken = tmp_path / "broken.zim"
    broken.write_bytes(b"no archive")
    status, findings = doctor("--zim", broken, "--zim", tmp_path / "nowhere.zim", "--endpoint", "http://127.0.0.1:9/v1")
    assert status == 1
    assert [each["verdict"] for each in found(findings, "archive")] == ["bad", "bad"]


def test_documents(doctor, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "owl.txt").write_text("Owls hunt at night.\n")
    with DocumentStore(tmp_path / "rag.db") as store:
        store.index(tmp_path / "notes")
    (tmp_path / "broken.db").write_bytes((tmp_path / "rag.db").read_bytes()[:8192] + b"?" * 60_000)
    for path, verdict in (("notes", "ok"), ("rag.db", "ok"), ("broken.db", "bad")):
        status, findings = doctor("--docs", path, "--endpoint", "http://127.0.0.1:9/v1")
        (documents,) = found(findings, "documents")
        assert (status, documents["verdict"]) == (1, verdict)  # 1 also for want of a server
        assert path in documents["found"]
        assert ("1 files, 1 chunks" in documents["found"]) is (path == "rag.db")


def test_option_that_names_nothing(doctor):
    status, findings = doctor("--zim", "nowhere.zim")
    assert status == 1
    assert findings[-1]["found"] == "--zim: there is no file nowhere.zim."


def test_for_people(doctor, capsys):
    assert main(["doctor", "--zim", "nowhere.zim"]) == 1
    assert "BAD   options: --zim: there is no file nowhere.zim.\n" in capsys.readouterr().out
