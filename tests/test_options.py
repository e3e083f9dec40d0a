"""Which archive, server and model is chosen, from options, environment and folder."""

import argparse
import os
from pathlib import Path

import pytest

from ratsearch_lib.chat.discover import find_server
from ratsearch_lib.cli.options import Options, add_options, choose
from ratsearch_lib.cli.paths import choose_archive
from ratsearch_lib.cli.progress import progress_bar
from ratsearch_lib.cli.servers import open_client
from ratsearch_lib.errors import ArchiveError, ModelNotFound, RatsearchError

USER_KEY = "sk-the-persons-own"


def options(*argv: str, environ: dict[str, str] | None = None, folder: Path) -> Options:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return choose(parser.parse_args(argv), environ or {}, folder)


@pytest.fixture
def forbidden(tmp_path):
    folder = tmp_path / "forbidden"
    folder.mkdir()
    folder.chmod(0)
    if os.access(folder, os.R_OK):
        folder.chmod(0o700)
        pytest.skip("nothing is forbidden to this user")
    yield folder
    folder.chmod(0o700)


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).touch()


class TestArchive:
    def test_order_of_choice(self, tmp_path):
        """--zim, RATSEARCH_ZIM, ./wikipedia.zim, the only ./*.zim, the sample."""
        here = tmp_path / "here"
        here.mkdir()
        touch(tmp_path, "given.zim", "named.zim")
        given, named = str(tmp_path / "given.zim"), str(tmp_path / "named.zim")

        assert choose_archive(None, None, here)[0] is None
        touch(here, "medicine.zim")
        assert choose_archive(None, None, here) == (here / "medicine.zim", "the only archive in this folder")
        touch(here, "physics.zim")
        assert choose_archive(None, None, here)[0] is None
        touch(here, "wikipedia.zim")
        assert choose_archive(None, None, here)[0] == here / "wikipedia.zim"
        assert choose_archive(None, named, here) == (tmp_path / "named.zim", "named by RATSEARCH_ZIM")
        assert choose_archive(given, named, here) == (tmp_path / "given.zim", "given with --zim")

    def test_reason_says_why_not_the_archives_here(self, tmp_path):
        touch(tmp_path, "a.zim", "b.zim")
        assert "2 archives in this folder" in choose_archive(None, None, tmp_path)[1]

    def test_empty_variable_is_none(self, tmp_path):
        assert options(environ={"RATSEARCH_ZIM": "", "OPENAI_BASE_URL": ""}, folder=tmp_path).zim is None

    def test_split_archive_is_one(self, tmp_path):
        touch(tmp_path, "big.zimaa", "big.zimab", "big.zimac")
        assert choose_archive(None, None, tmp_path)[0] == tmp_path / "big.zimaa"
        assert choose_archive(str(tmp_path / "big.zim"), None, tmp_path)[0] == tmp_path / "big.zim"
        with pytest.raises(ArchiveError, match=r"one part of a split archive; give the first, big\.zimaa"):
            choose_archive(str(tmp_path / "big.zimab"), None, tmp_path)

    def test_folder(self, tmp_path):
        with pytest.raises(ArchiveError, match="is a folder; and there is no archive in it"):
            choose_archive(str(tmp_path), None, tmp_path)
        touch(tmp_path, "physics.zim")
        with pytest.raises(ArchiveError, match=r"is a folder; give one of its files: physics\.zim"):
            choose_archive(str(tmp_path), None, tmp_path)

    def test_missing_file_names_its_origin(self, tmp_path):
        with pytest.raises(ArchiveError, match=r"^--zim: there is no file .*nowhere\.zim"):
            choose_archive(str(tmp_path / "nowhere.zim"), None, tmp_path)
        with pytest.raises(ArchiveError, match=r"^RATSEARCH_ZIM: there is no file"):
            choose_archive(None, str(tmp_path / "nowhere.zim"), tmp_path)

    @pytest.mark.parametrize(
        "name", ["~no-such-user-here/x.zim", "x" * 300 + ".zim", "x\0.zim", "n/" * 3000 + "x.zim"], ids=range(4)
    )
    def test_names_that_no_file_can_have(self, tmp_path, name):
        for origin, given, named in (("--zim", name, None), ("RATSEARCH_ZIM", None, name)):
            with pytest.raises(ArchiveError, match=f"^{origin}: .*cannot be opened: ") as caught:
                choose_archive(given, named, tmp_path)
            assert len(str(caught.value)) < 400
        for option in (["--model", f"{name}.gguf"], ["--model", __file__ + ".gguf", "--chat-template", name]):
            with pytest.raises(RatsearchError, match=r"^--(model|chat-template): "):
                options(*option, folder=tmp_path)

    def test_name_that_is_as_long_as_can_be(self, tmp_path):
        name = "x" * 251 + ".zim"  # with "aa", as the parts of an archive end, it would be too long
        touch(tmp_path, name)
        assert choose_archive(str(tmp_path / name), None, tmp_path)[0] == tmp_path / name

    def test_folder_that_may_not_be_entered(self, tmp_path, forbidden):
        with pytest.raises(ArchiveError, match=r"x\.zim cannot be opened: Permission denied"):
            choose_archive(str(forbidden / "x.zim"), None, tmp_path)
        with pytest.raises(ArchiveError, match="is a folder that cannot be read"):
            choose_archive(str(forbidden), None, tmp_path)
        assert choose_archive(None, None, forbidden)[0] is None
        assert "cannot be read" in choose_archive(None, None, forbidden)[1]

    def test_folder_that_is_gone(self, tmp_path):
        assert choose_archive(None, None, tmp_path / "gone")[0] is None


class TestModel:
    def test_endpoint_before_environment(self, tmp_path):
        environ = {"OPENAI_BASE_URL": "http://elsewhere/v1", "OPENAI_API_KEY": USER_KEY}
        assert options(environ=environ, folder=tmp_path).endpoint == "http://elsewhere/v1"
        assert options("--endpoint", "localhost:8080", environ=environ, folder=tmp_path).endpoint == "localhost:8080"

    def test_key_only_with_an_endpoint(self, tmp_path):
        environ = {"OPENAI_API_KEY": USER_KEY}
        assert options(environ=environ, folder=tmp_path).api_key is None
        assert options("--endpoint", "localhost:8080", environ=environ, folder=tmp_path).api_key == USER_KEY
        touch(tmp_path, "m.gguf")
        environ["OPENAI_BASE_URL"] = "http://elsewhere/v1"
        served = options("--model", str(tmp_path / "m.gguf"), environ=environ, folder=tmp_path)
        assert (served.gguf, served.endpoint, served.model, served.api_key) == (tmp_path / "m.gguf", None, None, None)

    def test_gguf_with_an_endpoint_is_a_name(self, tmp_path):
        chosen = options("--endpoint", "localhost:8080", "--model", "m.gguf", folder=tmp_path)
        assert (chosen.model, chosen.gguf) == ("m.gguf", None)

    def test_numbers_keep_zero(self, tmp_path):
        chosen = options("--temperature", "0", "--seed", "0", folder=tmp_path)
        assert (chosen.temperature, chosen.seed) == (0.0, 0)

    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            (["--model", "nowhere.gguf"], "--model: there is no file"),
            (["--chat-template", "t.jinja"], "--chat-template goes with --model"),
        ],
    )
    def test_contradictions(self, tmp_path, argv, message):
        with pytest.raises(RatsearchError, match=message):
            options(*argv, folder=tmp_path)

    @pytest.mark.parametrize(
        ("option", "text", "complaint"),
        [
            ("--context", "abc", "a context window has at least 512 tokens, and not 'abc'"),
            ("--context", "9" * 5000, "at least 512 tokens"),
            ("--seed", "1.5", "a seed is a whole number, and not '1.5'"),
            ("--temperature", "hot", "a temperature is a number from 0"),
            ("--temperature", "nan", "a temperature is a number from 0"),
            ("--temperature", "inf", "a temperature is a number from 0"),
        ],
    )
    def test_numbers_that_are_none(self, tmp_path, capsys, option, text, complaint):
        with pytest.raises(SystemExit):
            options(f"{option}={text}", folder=tmp_path)
        assert complaint in capsys.readouterr().err

    def test_name_needs_a_server(self):
        if find_server():
            pytest.skip("a chat server runs on this machine")
        with pytest.raises(ModelNotFound, match=r"could serve 'llama3'.*--endpoint"):
            open_client(Options(model="llama3"), print)


class TestProgress:
    def test_says_what_and_how_much_once(self, capsys):
        said = []
        with progress_bar("Fetching", said.append, unit="bytes") as progress:
            for done in (0, 50_000_000, 93_000_000):
                progress(done, 93_000_000)
        with progress_bar("Indexing", said.append, unit="entries") as progress:
            progress(0, 4066)
        assert said == ["Fetching (93 MB) …", "Indexing (4,066 entries) …"]
        assert "\x1b" not in capsys.readouterr().err

    def test_nothing_to_do_nothing_said(self, capsys):
        said = []
        with progress_bar("Indexing", said.append):
            pass
        assert (said, capsys.readouterr().err) == ([], "")
