"""The tables and figures of docs/results, made again from the records beside them."""

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "docs" / "results"
RECORDS = RESULTS / "records"
COMMITTED = {
    "table-main-mpnet": "mpnet-5e-5",
    "table-final-weights-mpnet": "mpnet-5e-5",
    "table-main-minilm-5e-5": "minilm-5e-5",
    "table-main-minilm": "minilm-3e-4",
    "table-final-weights-minilm": "minilm-3e-4",
    "table-dynamic-weights-minilm": "minilm-3e-4",
    "table-source-ratio-minilm": "minilm-3e-4",
    "table-target-size-minilm": "minilm-3e-4",
    "figure-weighted-samples": "samples-names",
    "figure-weighted-samples-supersense": "samples-supersenses",
    "figure-task-distance": "simulation",
}

pytestmark = pytest.mark.skipif(not RECORDS.exists(), reason="the documentation is not here")


def experiment_of(name):
    return next(asked.parent.name for asked in requests() if name.startswith(asked.parent.name))


def requests():
    return list(RECORDS.glob("*/*/request.json"))


def test_every_result_has_records():
    speed = "table-main-speed"  # of the making, not of what is made
    found = {path.stem for kind in ("table", "figure") for path in RESULTS.glob(f"{kind}-*.json")}
    assert found - {speed} == set(COMMITTED)
    assert {path.stem for path in RESULTS.glob("table-*.md")} <= set(COMMITTED)
    named = {(COMMITTED[name], experiment_of(name)) for name in COMMITTED}
    assert named == {(asked.parents[1].name, asked.parent.name) for asked in requests()}


def assert_same(found, expected, place=""):
    """Numbers to what another version of numpy or scipy may round, all else to the letter."""
    assert type(found) is type(expected), place
    if isinstance(found, dict):
        assert found.keys() == expected.keys(), place
        for key, value in found.items():
            assert_same(value, expected[key], f"{place}/{key}")
    elif isinstance(found, list):
        assert len(found) == len(expected), place
        for number, pair in enumerate(zip(found, expected, strict=True)):
            assert_same(*pair, f"{place}/{number}")
    elif isinstance(found, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-300), place
    else:
        assert found == expected, place


@pytest.mark.parametrize(("name", "folder"), COMMITTED.items())
def test_a_result_is_what_its_records_make(name, folder, call, tmp_path):
    experiment, copy = experiment_of(name), tmp_path / folder
    shutil.copytree(RECORDS / folder, copy)
    seeds = ["--seeds", "3"] if experiment == "figure-task-distance" else []  # it has no data
    status, _, err = call("reproduce", experiment, *seeds, "--out", str(copy))
    assert (status, err) == (0, "")
    made = json.loads((copy / experiment / "table.json").read_text())
    assert_same(made, json.loads((RESULTS / f"{name}.json").read_text()))
    if experiment.startswith("table-"):
        page = RESULTS / f"{name}.md"
        assert (copy / experiment / "table.md").read_text() == page.read_text()


def test_pictures_are_what_their_records_draw(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("figures", RESULTS.parent / "figures.py")
    figures = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "figures", figures)
    spec.loader.exec_module(figures)
    monkeypatch.setattr(figures, "IMAGES", tmp_path)
    figures.main()
    drawn = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert drawn.keys() == {f"{name}.svg" for name in figures.PICTURES}
    for name, picture in drawn.items():
        assert (RESULTS.parent / "images" / name).read_text() == picture
