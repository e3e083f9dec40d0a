"""Thumbs up and down, in a file of this machine: one JSON object a line."""

from __future__ import annotations

import errno
import json
from datetime import datetime, timezone
from pathlib import Path

import platformdirs

from .conversation import Turn

MAX_BYTES, MAX_CHARS = 50_000_000, 50_000  # of the file, of a question or an answer: visitors write it


def feedback_file() -> Path:
    return Path(platformdirs.user_data_dir("ratsearch", appauthor=False)) / "feedback.jsonl"


def save(turn: Turn, liked: bool | None, model: str, archive: str) -> None:
    """Add what a person thinks of an answer (None: that it was taken back). OSError where that cannot be written."""
    file = feedback_file()
    if file.exists() and file.stat().st_size > MAX_BYTES:
        raise OSError(errno.EFBIG, f"{file} is full: move it away")
    said = {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "liked": liked,
        "question": turn.question[:MAX_CHARS],
        "answer": "\n\n".join(panel.body for panel in turn.panels if panel.kind == "answer")[:MAX_CHARS],
        "sources": list(dict.fromkeys(panel.source for panel in turn.panels if panel.source)),
        "model": model,
        "archive": archive,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8", errors="replace") as lines:
        lines.write(json.dumps(said, ensure_ascii=False) + "\n")
