"""Where ratsearch keeps what it can make again: title indexes, the sample archive, model weights."""

from contextlib import suppress
from pathlib import Path

import platformdirs


def cache_folder(name: str = "") -> Path:
    """The folder `name` in the user's cache, made if it can be: who only reads need not mind, who writes will see.

    >>> cache_folder("models").name
    'models'
    """
    folder = Path(platformdirs.user_cache_dir("ratsearch", appauthor=False)) / name
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder
