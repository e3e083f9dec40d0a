"""`.ragignore` against git itself: the same rules in `.gitignore` files, and `git check-ignore` asked of each path."""

import random
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratsearch_lib.documents.ignore import IGNORE_FILE, Rules, parse, read_rules

TREES = 400
NAMES = ["a", "b", "ab", "doc", "docs", "build", "a.txt", "b.md", "x y", "#c", "!d", "é", "[e]", "a-b", "log.1", "\\k"]
PIECES = [
    *("a", "b", "doc", "docs", "build", "*", "?", "**", "[ab]", "[!a]", "[a-c]", "[[:alpha:]]", "*.txt", "*.md", "x y"),
    *(".", "é", "\\#c", "\\!d", "[]-]", "[^b]*", "lo[g", "a\\", "[[:digit:]]", "\\*", "[\\]e]", "x\\ y"),
]

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git to compare with")


def some_pattern(draw: random.Random) -> str:
    parts = ["".join(draw.choices(PIECES, k=draw.choice((1, 1, 1, 2)))) for _ in range(draw.choice((1, 1, 2, 3)))]
    text = draw.choice(("", "", "", "/", "!", "!/")) + "/".join(parts) + draw.choice(("", "", "/", "/**", " ", "\r"))
    return draw.choice((text, text, text, text, "#" + text, ""))


def some_tree(draw: random.Random, folder: str, depth: int, files: list[str], rules: dict[str, str]) -> None:
    if depth == 0 or draw.random() < 0.4:
        rules[folder] = "\n".join(some_pattern(draw) for _ in range(draw.randint(1, 5))) + draw.choice(("", "\n"))
    for name in draw.sample(NAMES, draw.randint(2, 5)):
        if depth < 3 and draw.random() < 0.45:
            some_tree(draw, f"{folder}{name}/", depth + 1, files, rules)
        else:
            files.append(folder + name)


def kept(files: list[str], rules: dict[str, str]) -> set[str]:
    found = set()
    for path in files:
        here, ignored, folder = Rules(), False, ""
        for part in [*path.split("/")[:-1], None]:
            if folder in rules:
                here = here.inside(folder.encode(), rules[folder].encode())
            if part is None:
                break
            folder += part + "/"
            if here.ignores(folder[:-1].encode(), True):
                ignored = True
                break
        if not ignored and not here.ignores(path.encode(), False):
            found.add(path)
    return found


@needs_git
def test_agrees_with_git_on_generated_trees(tmp_path):
    """All trees stand in one repository, since git is slow to start."""
    draw = random.Random(20)
    all_files, all_kept = [], set()
    for number in range(TREES):
        files: list[str] = []
        rules: dict[str, str] = {}
        some_tree(draw, "", 0, files, rules)
        root = tmp_path / f"t{number}"
        for path in files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).touch()
        for folder, text in rules.items():
            (root / folder).mkdir(parents=True, exist_ok=True)
            (root / folder / ".gitignore").write_text(text, encoding="utf-8", newline="")
        all_files += [f"t{number}/{path}" for path in files]
        all_kept |= {f"t{number}/{path}" for path in kept(files, rules)}
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    asked = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z"],
        input="\0".join(all_files).encode(), capture_output=True, cwd=tmp_path,
    )  # fmt: skip
    assert asked.returncode in (0, 1), asked.stderr
    ignored = set(asked.stdout.decode().split("\0")) - {""}
    assert len(ignored) > 500
    assert len(all_files) - len(ignored) > 500
    assert set(all_files) - ignored == all_kept


@pytest.mark.parametrize(
    ("text", "path", "is_folder", "ignored"),
    [
        ("*.log", "a/b/x.log", False, True),
        ("/x.log", "a/x.log", False, False),
        ("build/", "build", False, False),
        ("build/", "a/build", True, True),
        ("*.txt\n!keep.txt", "keep.txt", False, False),
        ("a/**/z", "a/b/c/z", False, True),
        ("a/**/z", "a/z", False, True),
        ("a/*", "a/b/c", False, False),
        ("\\#c", "#c", False, True),
        ("x\\ ", "x ", False, True),
        ("x  ", "x", False, True),
        ("[", "[", False, False),
        ("", "x", False, False),
    ],
)
def test_rules_by_hand(text, path, is_folder, ignored):
    assert Rules().inside(b"", text.encode()).ignores(path.encode(), is_folder) is ignored


def test_deeper_rules_decide():
    rules = Rules().inside(b"", b"*.txt").inside(b"a/", b"!b.txt")
    assert not rules.ignores(b"a/b.txt", False)
    assert not rules.ignores(b"a/c/b.txt", False)
    assert rules.ignores(b"a/d.txt", False)


@given(st.binary(max_size=60), st.binary(min_size=1, max_size=30))
def test_any_bytes_are_rules(text, path):
    Rules().inside(b"", text).ignores(path, False)
    assert len(parse(text)) <= text.count(b"\n") + 1


def test_reading_is_bounded(tmp_path):
    assert read_rules(tmp_path) is None
    (tmp_path / IGNORE_FILE).write_bytes(b"a\n" * 1_000_000)
    with pytest.raises(OSError, match="larger"):
        read_rules(tmp_path)
