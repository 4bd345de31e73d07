"""Mixtures that are found in a second or two."""

import pytest

from tests.mix.cases import Corpora


@pytest.fixture(autouse=True)
def _short_measurement(monkeypatch):
    """The speed of a step is measured for a moment."""
    monkeypatch.setattr("tawt.mix.speed._SECONDS", 0.02)


@pytest.fixture
def corpora(tmp_path):
    return Corpora(tmp_path / "toy")
