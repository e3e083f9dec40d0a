"""Gradio, imported in half the time: `with no_type_stubs(): import gradio`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_type_stubs() -> Iterator[None]:
    """Keep Gradio from writing type stubs for editors beside its own files, each time that it is imported.

    It does that for every component (gradio/component_meta.py), which was 3.6 of an import's 6.5 s on Python 3.11,
    and leaves out those that are in no file: so none is, meanwhile.
    """
    find_file = inspect.getfile

    def getfile(thing: object) -> str:
        if isinstance(thing, type) and thing.__module__.startswith("gradio."):
            raise OSError(f"{thing.__name__} is left out")
        return find_file(thing)

    inspect.getfile = getfile
    try:
        yield
    finally:
        inspect.getfile = find_file
