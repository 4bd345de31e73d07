"""What tests of reproductions share."""

import pytest

from tawt.cli import console
from tests.reproduce.made_up import FILES, SIZES, MadeUpRuns, MadeUpStore


@pytest.fixture
def made_up_runs(monkeypatch):
    """No run is really made; what was asked for is remembered."""
    runs = MadeUpRuns([])
    monkeypatch.setattr("tawt.sweeps.workers.in_processes", runs)
    return runs


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Whatever is written by default goes here; lines are as wide as they like."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(console.out, "width", 200)


@pytest.fixture
def data(tmp_path):
    """The open layout's files, with a few sentences each."""
    for task, name in FILES.items():
        for split, count in (("train", SIZES[task]), ("dev", 3), ("test", 4)):
            path = tmp_path / "data" / f"{name}.{split}.tsv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("a\tO\nword\tB-X\n\n" * count)
    return tmp_path / "data"


@pytest.fixture
def refused(call, tmp_path, listing):
    """Call what cannot be done: one line, status 2, nothing written."""

    def called(*arguments):
        before = listing(tmp_path)
        status, out, err = call("reproduce", *arguments)
        assert (status, out) == (2, "")
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert listing(tmp_path) == before
        return err

    return called


@pytest.fixture
def nothing_trained(monkeypatch, made_up_runs):
    """Runs are made up, and so are their records."""
    monkeypatch.setattr("tawt.cli.reproducing.Store", MadeUpStore)
    monkeypatch.setattr("tawt.text.encoding.load_tokenizer", lambda encoder: None)
    return made_up_runs
