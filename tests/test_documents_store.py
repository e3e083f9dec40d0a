"""Indexing again and again: what changed, went or moved; and what must not be followed, waited for or lost."""

import os
import random
import socket
import sys
import threading

import pytest

from ratsearch_lib.documents import DocumentStore
from ratsearch_lib.errors import DocumentNotFound, DocumentStoreError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    for name, text in (
        ("owl.txt", "Owls hunt at night."),
        ("fox.txt", "Foxes hunt alone."),
        ("sub/hen", "Hens sleep."),
    ):
        (tmp_path / "docs" / name).write_text(text)
    return tmp_path / "docs"


@pytest.fixture
def store(tmp_path):
    with DocumentStore(tmp_path / "rag.db", wait_s=0.3) as store:
        yield store


def titles(store: DocumentStore, query: str) -> list[str]:
    return [each.title for each in store.search(query)]


def counts(report) -> tuple[int, ...]:
    return report.indexed, report.updated, report.unchanged, report.moved, report.removed


class TestIncremental:
    def test_first_and_second_run(self, store, folder):
        assert counts(store.index(folder)) == (3, 0, 0, 0, 0)
        assert counts(store.index(folder)) == (0, 0, 3, 0, 0)
        assert titles(store, "hunting") == ["fox.txt", "owl.txt"]

    def test_changed(self, store, folder):
        store.index(folder)
        (folder / "owl.txt").write_text("Owls sleep by day.")
        assert counts(store.index(folder)) == (0, 1, 2, 0, 0)
        assert titles(store, "hunt") == ["fox.txt"]
        assert titles(store, "day") == ["owl.txt"]
        assert store.stats().total_chunks == 3

    def test_changed_within_a_tick_of_the_clock(self, store, folder):
        """Same size, same times: only its content tells."""
        before = (folder / "owl.txt").stat()
        store.index(folder)
        (folder / "owl.txt").write_text("Owls rest at night.")
        os.utime(folder / "owl.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
        store.index(folder)
        assert titles(store, "rest") == ["owl.txt"]

    def test_vanished(self, store, folder):
        store.index(folder)
        (folder / "owl.txt").unlink()
        assert counts(store.index(folder)) == (0, 0, 2, 0, 1)
        assert titles(store, "owls") == []

    def test_moved(self, store, folder):
        store.index(folder)
        (folder / "owl.txt").rename(folder / "sub" / "bird.txt")
        (folder / "sub" / "hen").rename(folder / "chicken")
        assert counts(store.index(folder)) == (0, 0, 1, 2, 0)
        assert titles(store, "owls") == ["bird.txt"]

    def test_moved_folder(self, store, folder):
        store.index(folder)
        moved = folder.rename(folder.with_name("papers"))
        assert counts(store.index(moved)) == (0, 0, 0, 3, 0)
        assert all("papers" in path for path in store.files())

    def test_chunk_size_changed(self, store, folder):
        (folder / "owl.txt").write_text("one two three.\n\nfour five six.\n\nseven eight nine.")
        store.index(folder)
        assert store.stats().chunk_size == 300
        assert counts(store.index(folder, chunk_size=3)) == (0, 3, 0, 0, 0)
        assert [each.chunk for each in store.list() if each.title == "owl.txt"] == [0, 1, 2]
        assert counts(store.index(folder)) == (0, 0, 3, 0, 0), "the size stays with the store"

    def test_one_that_is_no_text_any_more(self, store, folder):
        store.index(folder)
        (folder / "owl.txt").write_bytes(b"\x89PNG" + bytes(100))
        report = store.index(folder)
        assert report.removed == 1
        assert [(os.path.basename(each.path), each.reason) for each in report.skipped] == [
            ("owl.txt", "not text but a picture")
        ]
        assert titles(store, "owls") == []
        assert [each.reason for each in store.index(folder).skipped] == ["not text but a picture"]

    def test_ignored_later(self, store, folder):
        store.index(folder)
        (folder / ".ragignore").write_text("/sub/\n.ragignore\n")
        assert store.index(folder).removed == 1
        assert titles(store, "hens") == []

    def test_file_by_file_and_twice(self, store, folder):
        assert counts(store.index(folder / "owl.txt", folder / "owl.txt", folder)) == (3, 0, 0, 0, 0)
        assert store.index(folder / "sub").unchanged == 1
        assert len(store.files()) == 3, "indexing one folder forgets nothing of others"

    def test_after_any_history_it_is_as_new(self, tmp_path):
        """Random edits, moves and deletions; then the store answers as one that is built from nothing, and is whole."""
        draw = random.Random(7)
        folder = tmp_path / "docs"
        folder.mkdir()
        words = [f"w{n}" for n in range(60)]
        store = DocumentStore(tmp_path / "old.db")
        names = [f"{n}.txt" for n in range(25)]
        for _ in range(25):
            for name in draw.sample(names, 5):
                path = folder / name
                match draw.choice(("write", "write", "write", "delete", "move")):
                    case "write":
                        path.write_text("\n\n".join(" ".join(draw.choices(words, k=12)) for _ in range(4)))
                    case "delete":
                        path.unlink(missing_ok=True)
                    case "move" if path.exists():
                        path.rename(folder / draw.choice(names))
            store.index(folder, chunk_size=24)
        new = DocumentStore(tmp_path / "new.db")
        new.index(folder, chunk_size=24)
        assert store.verify() == []
        assert store.list() == new.list()
        assert store.stats() == new.stats()
        for word in words:
            found, expected = store.search(f"{word} w1 w2", k=9), new.search(f"{word} w1 w2", k=9)
            assert [each.id for each in found] == [each.id for each in expected]
            assert [each.score for each in found] == pytest.approx([each.score for each in expected])


class TestWhatIsNotRead:
    def test_links_pipes_and_sockets(self, store, folder, tmp_path):
        (tmp_path / "secret.txt").write_text("secret owls")
        (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
        (folder / "loop").symlink_to(folder)
        os.mkfifo(folder / "pipe")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(folder / "s"))
            reasons = {os.path.basename(each.path): each.reason for each in store.index(folder).skipped}
        link = "a symbolic link (not followed)"
        assert reasons == {"link.txt": link, "loop": link, "pipe": "a pipe", "s": "a socket"}
        assert titles(store, "secret") == []

    def test_a_path_that_is_a_link_is_the_same_path(self, store, folder, tmp_path):
        (tmp_path / "again").symlink_to(folder)
        store.index(folder)
        assert counts(store.index(tmp_path / "again")) == (0, 0, 3, 0, 0)

    def test_the_store_itself(self, folder):
        store = DocumentStore(folder / "rag.db")
        report = store.index(folder)
        assert counts(report) == (3, 0, 0, 0, 0)
        assert counts(store.index(folder)) == (0, 0, 3, 0, 0)
        assert report.skipped == ()

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems allow no such names")
    def test_names_that_are_no_utf8(self, store, folder):
        with open(os.fsencode(folder) + b"/\xff.txt", "w") as file:
            file.write("Badgers dig.")
        store.index(folder)
        assert titles(store, "badgers") == ["\\xff.txt"]
        assert store.index(folder).unchanged == 4

    def test_a_missing_path_is_an_error_and_nothing_is_done(self, store, folder):
        with pytest.raises(DocumentStoreError, match=r"nowhere.*Nothing was done"):
            store.index(folder, folder / "nowhere")
        assert store.stats().total_chunks == 0


class TestDelete:
    def test_a_folder_is_not_its_namesake(self, store, folder):
        (folder / "sub2").mkdir()
        (folder / "sub2" / "a.txt").write_text("Cows graze.")
        store.index(folder)
        assert store.delete(str(folder / "sub")) == 1
        assert titles(store, "cows") == ["a.txt"]
        assert titles(store, "hens") == []

    def test_a_chunk(self, store, folder):
        store.index(folder)
        (found,) = store.search("owls")
        assert store.delete(found.id) == 1
        assert store.search("owls") == []
        with pytest.raises(DocumentNotFound):
            store.get(found.id)
        assert store.verify() == []

    def test_one_of_two_places(self, store, folder):
        (folder / "copy.txt").write_text("Owls hunt at night.")
        store.index(folder)
        store.delete(str(folder / "copy.txt"))
        assert titles(store, "owls") == ["owl.txt"]

    def test_nothing(self, store, folder):
        store.index(folder)
        with pytest.raises(DocumentNotFound, match="no chunk and no file"):
            store.delete(str(folder / "ow"))


def test_an_empty_store_answers(store):
    assert store.search("owls") == []
    assert store.list() == []
    assert store.stats().total_chunks == 0
    assert not store.path.exists()


def test_what_is_no_store(tmp_path):
    (tmp_path / "a.db").write_text("not a database, but a text of some length that is none")
    with pytest.raises(DocumentStoreError, match="damaged"):
        DocumentStore(tmp_path / "a.db").search("owls")
    with pytest.raises(DocumentStoreError, match="folder"):
        DocumentStore(tmp_path)


def test_readers_while_one_writes(store, folder):
    """Every state that a reader sees is a whole one: all parts of a file, or none."""
    store.index(folder)
    done, seen = threading.Event(), []

    def read():
        with DocumentStore(store.path) as reader:
            while not done.is_set():
                seen.append(len(reader.search("badger", k=50)))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(12):
        text = "\n\n".join(f"badger {number} {part} w w" for part in range(4))
        (folder / "b.txt").write_text(text)
        store.index(folder, chunk_size=5)
    done.set()
    reader.join()
    assert set(seen) <= {0, 4}
    assert titles(store, "badger 11")[0] == "b.txt"
