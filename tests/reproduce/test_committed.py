"""The tables and figures of docs/results, made again from the records beside them."""

import importlib.util
import json
import re
import sys
from functools import cache
from pathlib import Path, PurePosixPath

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


@cache
def program(name):
    """One of those in docs."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", RESULTS.parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


@cache
def requests():
    """Folder and experiment of every table that was asked for."""
    records = program("records")
    paths = [
        (name, PurePosixPath(path)) for name in records.names() for path in records.contents(name)
    ]
    return {(name, path.parent.name) for name, path in paths if path.name == "request.json"}


def experiment_of(name):
    return next(experiment for _, experiment in requests() if name.startswith(experiment))


def test_every_result_has_records():
    speed = "table-main-speed"  # of the making, not of what is made
    found = {path.stem for kind in ("table", "figure") for path in RESULTS.glob(f"{kind}-*.json")}
    assert found - {speed} == set(COMMITTED)
    assert {path.stem for path in RESULTS.glob("table-*.md")} <= set(COMMITTED)
    named = {(COMMITTED[name], experiment_of(name)) for name in COMMITTED}
    assert named == requests()


def test_the_page_says_what_each_file_of_records_makes():
    page = (RESULTS.parent / "reproduce.md").read_text(encoding="utf-8")
    section = page.split("## From our records")[1].split("\n## ")[0]
    rows = [row.split("|")[1:3] for row in section.splitlines() if row.startswith("| `")]
    found = [[re.findall(r"`([a-z][^`]*)`", cell) for cell in row] for row in rows]
    assert {(name, table) for names, tables in found for name in names for table in tables} == (
        requests()
    )


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
    program("records").main([folder, str(copy)])
    seeds = ["--seeds", "3"] if experiment == "figure-task-distance" else []  # it has no data
    status, _, err = call("reproduce", experiment, *seeds, "--out", str(copy))
    assert (status, err) == (0, "")
    made = json.loads((copy / experiment / "table.json").read_text())
    assert_same(made, json.loads((RESULTS / f"{name}.json").read_text()))
    if experiment.startswith("table-"):
        page = RESULTS / f"{name}.md"
        assert (copy / experiment / "table.md").read_text() == page.read_text()


@pytest.mark.parametrize("folder", sorted(set(COMMITTED.values())))
def test_records_are_packed_as_they_were_unpacked(folder, tmp_path, monkeypatch):
    records = program("records")
    expected = records.contents(folder)
    records.main([folder, str(tmp_path / "again")])
    (tmp_path / "again" / "runs").mkdir()  # what is made from records is not packed
    (tmp_path / "again" / "runs" / "record.json").write_text("{}")
    monkeypatch.setattr(records, "RECORDS", tmp_path)
    records.main([folder, str(tmp_path / "again"), "--pack"])
    assert list(records.contents(folder).items()) == list(expected.items())
    first = records.path_of(folder).read_bytes()
    records.main([folder, str(tmp_path / "again"), "--pack"])
    assert records.path_of(folder).read_bytes() == first


def test_records_are_not_unpacked_among_other_files(tmp_path, capsys):
    (tmp_path / "records").mkdir()
    with pytest.raises(SystemExit):
        program("records").main(["simulation", str(tmp_path)])
    assert f"{tmp_path} is not empty; give a new folder." in capsys.readouterr().err
    assert list(tmp_path.rglob("*")) == [tmp_path / "records"]


def test_a_name_without_records_is_refused_with_those_that_have_some(tmp_path, capsys):
    with pytest.raises(SystemExit):
        program("records").main(["minilm", str(tmp_path / "again")])
    assert "there are records of minilm-3e-4, minilm-5e-5, " in capsys.readouterr().err
    with pytest.raises(SystemExit, match="has no records; give a folder of `tawt reproduce`"):
        program("records").main(["minilm", str(tmp_path), "--pack"])


def test_pictures_are_what_their_records_draw(tmp_path, monkeypatch):
    figures = program("figures")
    monkeypatch.setattr(figures, "IMAGES", tmp_path)
    figures.main()
    drawn = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert drawn.keys() == {f"{name}.svg" for name in figures.PICTURES}
    for name, picture in drawn.items():
        assert (RESULTS.parent / "images" / name).read_text() == picture
