"""One answered question as scripts get it: from `ratsearch ask --json` and from the page's ``/ask``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .agent.events import Event, Evidence, RunFinished, ToolResult
from .evidence import SentenceEvidence, summary


class Asked:
    """Collects it from a run's events. `finished` is None as long as the run is not."""

    def __init__(self) -> None:
        self.finished: RunFinished | None = None
        self.sentences: tuple[SentenceEvidence, ...] = ()
        self._sources: dict[str, dict[str, str | None]] = {}

    def feed(self, event: Event) -> None:
        match event:
            case RunFinished():
                self.finished = event
            case Evidence(sentences=sentences):
                self.sentences = sentences
            case ToolResult(title=title, source=source) if source:
                self._sources[source] = {"title": title, "source": source}

    def as_dict(self) -> dict[str, Any]:
        """Answer, stop_reason, sources ([{"title", "source"}]), summary, sentences (each a `SentenceEvidence`)."""
        return {
            "answer": self.finished.answer,
            "stop_reason": self.finished.stop_reason,
            "sources": list(self._sources.values()),
            "summary": summary(self.sentences),
            "sentences": [asdict(each) for each in self.sentences],
        }
