"""Where ratsearch keeps what it can make again: title indexes, the sample archive, model weights."""

from pathlib import Path

import platformdirs


def cache_folder(name: str = "") -> Path:
    """The folder `name` in the user's cache, made if need be.

    >>> cache_folder("models").name
    'models'
    """
    folder = Path(platformdirs.user_cache_dir("ratsearch", appauthor=False)) / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
