"""What tests of reproductions share."""

import importlib

import pytest

from tests.reproduce.made_up import MadeUpRuns


@pytest.fixture
def made_up_runs(monkeypatch):
    """No run is really made; what was asked for is remembered."""
    runs = MadeUpRuns([])
    monkeypatch.setattr(importlib.import_module("tawt.reproduce.making"), "run_all", runs)
    return runs
