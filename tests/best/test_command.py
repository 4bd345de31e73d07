"""`tawt best`: what it prints, what it leaves, and one line for every mistake."""

import json

import pytest

from tawt.best import load_best


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch, in_process):
    """Whatever is written by default goes here; runs are made in this process."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("COLUMNS", "80")


def test_from_the_file_to_the_model(call, few, tmp_path):
    few.set("sources", ["near"])
    status, out, err = call("best", few.path, "--budget", 2, "--jobs", 1)
    folder = tmp_path / "here" / "runs" / "tiny-best"
    found = load_best(folder)
    assert status == 0
    assert out.startswith("Use runs/tiny-best/best/model: accuracy ")
    assert "Chosen among 2 candidates by 48 examples" in out
    assert "the target alone" in out
    assert err.startswith("48 examples of goal in 4 parts, 1 source")
    assert (folder / "best" / "model").is_dir()
    page = (folder / "report.html").read_text()
    assert "<script" not in page
    assert len(page) < 500_000
    (folder / "report.html").unlink()
    assert call("report", "runs/tiny-best")[0] == 0
    assert (folder / "report.html").read_text() == page

    status, out, _ = call("best", few.path, "--budget", 2, "--jobs", 1, "--json")
    assert (status, json.loads(out)) == (0, json.loads(json.dumps(found.to_json())))

    status, out, _ = call("best", few.path, "--budget", 2, "--jobs", 1, "--quiet")
    assert (status, out) == (0, "")


def test_a_dry_run_writes_nothing(call, few, listing, tmp_path):
    before = listing(tmp_path)
    status, out, err = call("best", few.path, "--dry-run", "--budget", 12, "--jobs", 1)
    assert (status, err) == (0, "")
    assert "12 candidates in " in out
    assert "MB for two models" in out
    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--budget", "soon"], "--budget is a time"),
        (["--budget", "1"], "too small"),
        (["--budget", "0.001s"], "too small"),
        (["-o", "target=nowhere"], "nowhere"),
        (["--out", "."], ""),
    ],
)
def test_every_mistake_is_one_line_and_nothing_is_written(
    call, few, listing, tmp_path, given, said
):
    if given[0] == "--out":
        (tmp_path / "here" / "thesis.txt").write_text("years of work")
    before = listing(tmp_path)
    status, out, err = call("best", few.path, *given, "--jobs", 1)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err
    assert listing(tmp_path) == before
