"""Fixtures that several test modules share. Real parts only: nothing here stands in for code under test."""

import os
import signal
from pathlib import Path

import hypothesis
import pytest

from ratsearch_lib.cache import cache_folder
from ratsearch_lib.chat.weights import embedded_weights
from ratsearch_lib.errors import ModelError

# A busy machine is no fault of the code; CI draws the same examples each time.
slow = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("tests", deadline=None, suppress_health_check=slow, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("tests")

# Where a shell started the tests in the background, they and the programs they start would ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(autouse=True, scope="session")
def private_cache(tmp_path_factory):
    """Indexes and the sample archive go to a folder of this session; model weights are shared with the user."""
    models = cache_folder("models")
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        (cache_folder() / "models").symlink_to(models)
        yield


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real archives, pages and judged sets."""
    if not DATA.is_dir():
        pytest.skip("needs the real data in ../shared/data")
    return DATA


@pytest.fixture(scope="session")
def weights() -> Path:
    """The embedded model's file, fetched if need be, where there is a server to run it."""
    pytest.importorskip("xllamacpp", reason="there is no xllamacpp wheel for this platform")
    try:
        return embedded_weights()
    except ModelError as error:
        pytest.skip(f"needs the embedded model: {error}")
