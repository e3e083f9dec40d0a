"""`ratsearch model list`: a few models that suit."""

from __future__ import annotations

from dataclasses import asdict

from ..chat.hub import KNOWN_MODELS, hub_file
from .screen import Screen


def list_models(out: Screen, *, as_json: bool) -> int:
    """The smallest first: name for --model, size, memory, licence."""
    if as_json:
        from .commands import print_json

        print_json([{**asdict(each), "here": hub_file(each.name).is_file()} for each in KNOWN_MODELS])
        return 0
    for each in KNOWN_MODELS:
        here = "  (here)" if hub_file(each.name).is_file() else ""
        size = f"{each.size_bytes / 1e9:.1f} GB, needs {each.memory_gb} GB of memory"
        out.line(f"{each.name}  {size}, {each.licence}{here}")
    out.line("Larger ones answer better. Use one with --model NAME.")
    return 0
