"""Files prepared by other processes, pages of HTML, and words of several languages in one store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.documents import DocumentStore
from ratsearch_lib.documents.page import PART_TAGS, read_page
from ratsearch_lib.documents.prepare import prepare
from ratsearch_lib.documents.workers import _Pool, how_many, prepared

FILES = [(f"{n}.txt", f"File {n} says nothing of number {n + 1}.".encode()) for n in range(20)] + [
    ("p.png", b"\x89PNG\r\n\x1a\n\0\0")
]


def test_in_other_processes_as_in_this_one():
    batches = [(list(range(start, start + 7)), FILES[start : start + 7]) for start in (0, 7, 14)]
    expected = [(notes, prepare(files, 300)) for notes, files in batches]
    assert list(prepared(iter(batches), 300, 2)) == expected
    assert list(prepared(iter(batches), 300, 0)) == expected


def test_a_process_that_ends_is_replaced():
    pool = _Pool(1)
    try:
        assert pool.submit(FILES, 300).result() == prepare(FILES, 300)
        pool._children[0]._process.kill()
        pool._children[0]._process.wait()
        assert pool.submit(FILES, 300).result() == prepare(FILES, 300)
    finally:
        pool.close()


def test_little_is_read_here():
    assert how_many(1_000_000) == 0


class TestPages:
    def test_nothing_that_is_seen_is_lost(self):
        page = (
            "<html><head><title>Owls</title><style>p{}</style></head><body><nav>Home</nav><h1>Owls</h1>"
            "<p>They <b>hu</b>nt<br>at night.</p><ol><li>mice<li><p>rats</p></ol><table><tr><th>a</th><th>b</th></tr>"
            "<tr><td>1<td>2</table><pre>x = 1\n  y</pre><div hidden>no</div><p style='display: none'>no</p>"
            "<script>no()</script><footer>A note.</footer>"
        )
        assert read_page(page) == (
            "# Owls\n\nThey hunt\nat night.\n\n- mice\n- rats\n\na | b\n1 | 2\n\n```\nx = 1\n  y\n```\n\nA note."
        )

    def test_elements_closed_as_xml_does(self):
        page = "<?xml version='1.0'?><html><head><title/><script src='x'/></head><body><p>Seen.</p></body></html>"
        assert read_page(page) == "Seen."

    def test_a_page_beyond_the_parsers_limits_is_read_in_parts(self):
        n = PART_TAGS // 2 + 50
        text = read_page("<body>" + "".join(f"<p>paragraph{i}</p>" for i in range(n)))
        assert text.count("paragraph") == n

    @given(st.text("<>/ap=' \n-!é", max_size=80))
    def test_any_markup(self, page):
        assert isinstance(read_page(page), str)


def test_a_word_of_one_language_is_not_another_one_of_another(tmp_path):
    """In Portuguese "order" would become "or", which most English texts have."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "en.txt").write_text("This or that, one or the other, or none at all of these things.")
    (folder / "en2.txt").write_text("You may order them by name.")
    (folder / "pt.txt").write_text(
        "O rato é um animal que vive na cidade e não tem medo do homem, mas foge quando o vê."
    )
    store = DocumentStore(tmp_path / "rag.db")
    store.index(folder)
    assert [each.title for each in store.search("order")] == ["en2.txt"]
    assert [each.title for each in store.search("cidades")] == ["pt.txt"]


@pytest.mark.parametrize("n_files", [3, 9])
def test_many_runs_leave_few_segments(tmp_path, n_files):
    store = DocumentStore(tmp_path / "rag.db")
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(n_files):
        (folder / f"{number}.txt").write_text(f"word{number} owl")
        store.index(folder)
    with store._reading() as connection:
        assert connection.execute("SELECT count(*) FROM segment").fetchone()[0] <= 2
    assert len(store.search("owl", k=20)) == n_files
    assert store.verify() == []
