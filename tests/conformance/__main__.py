"""Writes docs/conformance.md, the table of the conformance cases:  python -m tests.conformance"""

from __future__ import annotations

from pathlib import Path

from . import calls, failures, replies

GROUPS = {**calls.GROUPS, **replies.GROUPS, **failures.GROUPS}
PAGE = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"

HEAD = """# What models and servers do, and what ratsearch does about it

Every row is a test: an agent, its one tool and a scripted server on a real socket (`tests/conformance/`). Beside what
the row says, each checks that what goes back to the server is a conversation that the strictest chat template takes,
and that the next question is answered, also after a failure. Reports are public ones of the same symptom, mostly in
other projects. This page is written by `python -m tests.conformance`.
"""


def page() -> str:
    total = sum(map(len, GROUPS.values()))
    lines = [HEAD, f"{total} cases.", ""]
    for group, cases in GROUPS.items():
        lines += [f"## {group}", "", "| Case | What happens | What comes of it | Reported |", "|---|---|---|---|"]
        lines += [
            f"| {case.name} | {_cell(case.symptom)} | {_cell(case.expected)} | {_links(case.reports)} |"
            for case in cases
        ]
        lines.append("")
    return "\n".join(lines)


def _links(reports: str) -> str:
    links = []
    for report in reports.split():
        repository, _, number = report.partition("#")
        links.append(f"[{report}](https://github.com/{repository}/issues/{number})")
    return ", ".join(links)


def _cell(text: str) -> str:
    return (text[:1].upper() + text[1:]).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
