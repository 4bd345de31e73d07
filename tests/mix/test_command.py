"""`tawt mix`: what it prints, what it leaves, and one line for every mistake."""

import json

import pytest
import yaml

from tawt.config import load
from tawt.errors import Interrupted
from tawt.mix import load_mix, mix
from tawt.sweeps import Sweep


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch, in_process):
    """Whatever is written by default goes here; runs are made in this process."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("COLUMNS", "80")


def test_from_the_file_to_the_mixture(call, corpora, tmp_path):
    status, out, err = call("mix", corpora.path, "--seeds", 1, "--budget", "35K")
    assert status == 0
    first, *rest = out.splitlines()
    assert first.startswith("Use ")
    assert "near" in first
    assert any("learned weights" in line for line in rest)
    assert max(map(len, out.split("That is")[0].splitlines()[1:])) <= 80
    assert err.startswith("3 runs of ")
    assert "34.5K in all" in err
    folder = tmp_path / "here" / "runs" / "toy-mix"
    found = load_mix(folder)
    mixture = yaml.safe_load((folder / "mixture.yaml").read_text())
    assert mixture["probabilities"]["near"] == pytest.approx(found.mixture["near"], abs=1e-6)
    assert found.mixture["near"] > 0.5

    status, out, err = call("mix", corpora.path, "--seeds", 1, "--resume", "--json")
    assert (status, err) == (0, "All 3 runs are finished.\n")
    assert json.loads(out) == json.loads(json.dumps(found.to_json()))

    assert call("mix", corpora.path, "--seeds", 1, "--quiet") == (0, "", "")

    page = (folder / "report.html").read_text()
    (folder / "report.html").unlink()
    status, out, _ = call("report", folder)
    assert (status, out) == (0, f"Wrote {folder / 'report.html'}.\n")
    assert (folder / "report.html").read_text() == page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--budget", "10"], "--budget is a time (90s, 10m, 2h, 1d) or a number of tokens"),
        (["--budget", "2K"], "fewer than 50 steps each"),
        (["--tokens", "10m"], "--tokens is a number of tokens"),
        (["--resume"], "holds nothing to go on with"),
        (["--resume", "--overwrite"], "Either --resume"),
        (["--seeds", "0"], "--seeds"),
        (["-o", "target=nobody"], "There is no task 'nobody'"),
        (["-o", "training.sampling=size"], "toy.yaml"),
        (["--device", "tpu"], "tpu"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(call, corpora, tmp_path, options, said):
    status, out, err = call("mix", corpora.path, *options)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert said in err
    assert list((tmp_path / "here").iterdir()) == []


def test_a_line_of_the_file_is_named(call, corpora):
    corpora.set("weighting.unit", "example")
    _, _, err = call("mix", corpora.path)
    assert "toy.yaml:" in err
    assert "weighs whole sources" in err


def test_what_is_said_of_the_targets_part_is_said_to_be_ignored(corpora, tmp_path, caplog):
    stopped = Sweep(should_stop=lambda: True)

    def warned():
        caplog.clear()
        with pytest.raises(Interrupted):
            mix(load(corpora.path), tmp_path / "mixture", sweep=stopped)
        return caplog.messages

    assert warned() == []
    corpora.set("paradigm", "sources only")
    assert warned() == []
    corpora.set("paradigm", "joint")
    assert warned() == ["`paradigm: joint` is ignored: a mixture trains on the sources alone."]
    corpora.set("weighting.target_share", 0.5)
    assert warned() == [
        "`paradigm: joint` and `weighting.target_share: 0.5` are ignored: a mixture trains on the "
        "sources alone."
    ]
