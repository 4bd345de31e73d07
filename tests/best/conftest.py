"""Searches that take seconds."""

import pytest

from tests.conftest import labelled


@pytest.fixture(autouse=True)
def _short_measurement(monkeypatch):
    """The speed of a step is measured for a moment."""
    monkeypatch.setattr("tawt.best.estimate._SECONDS", 0.02)


@pytest.fixture
def few(study):
    """A target of few examples, beside many of the same kind."""
    study.save("goal.train", **labelled(5, 24))
    study.save("goal.dev", **labelled(6, 24))
    study.save("goal.test", **labelled(2, 200))
    study.save("near.train", **labelled(3, 240))
    study.save("far.train", **labelled(4, 60, noise=True))
    study.set("model.dropout", 0.0).set("epochs", 4).set("target_epochs", 6)
    return study.set("training.batch_size", 16).set("training.update_every", 10)
