"""The examples in docstrings do what they say."""

import doctest
import importlib
import pkgutil

import pytest

import ratsearch_lib

MODULES = [each.name for each in pkgutil.walk_packages(ratsearch_lib.__path__, "ratsearch_lib.")]
MODULES = [name for name in MODULES if not name.endswith("__main__")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0
