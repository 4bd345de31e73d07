"""`tawt distance`: what it shows and leaves; `test_distance_folder.py` is about its folder."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tawt.files.whole import read_sealed, write_sealed
from tests.conftest import labelled
from tests.test_report import BROWSER, HOSTILE, Page, opened

SEEDS, ONE_SEED = ("--seeds", "2", "--jobs", "1"), ("--seeds", "1", "--jobs", "1")
MIXTURE = ("--weights", "mostly=near:0.75,far:0.25")
PER_SEED = {"sources-uniform", "learned-learned", "half-uniform", "with-near", "with-far",
            "sources-near", "sources-far", "own-goal", "alone-goal"}  # fmt: skip
ESTIMATED = {"own-heads-goal", "heads-near", "heads-far", "own-steps-goal", "steps-near",
             "steps-far", "steps-uniform", "steps-learned"}  # fmt: skip


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch, study):
    """Whatever is written by default goes here; one pass over everything is enough."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("COLUMNS", "100")
    study.set("epochs", 1).set("target_epochs", 1)


def with_test_examples(study):
    """Every task can be a target then."""
    for place, name in enumerate(("near", "far")):
        study.save(f"{name}.test", **labelled(10 + place, 20))
        study.set(f"data.tasks.{name}.test", f"{name}.test.npz")
    return study


def left(folder):
    """The files of a folder that are no hidden ones, without their endings."""
    return {
        str(path.relative_to(folder))
        for path in Path(folder).rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def result(folder):
    return read_sealed(Path(folder, "distance.json"))


# What it shows and leaves


def test_workers_train_what_is_shown_and_left(call, study):
    """The one test with a process of its own for trainings."""
    status, out, err = call("distance", study.path, *SEEDS)
    assert (status, err) == (0, "")
    folder = Path("runs", "tiny-distance")
    files = {f"trainings/{seed}/{name}.json" for seed in (0, 1) for name in PER_SEED}
    usual = {"distance.json", "distance.yaml", "data.json", "report.html"}
    made = {f"estimates/{name}.json" for name in ESTIMATED}
    assert left(folder) == files | made | usual
    found = result(folder)
    for words in ("how far from goal", "near", "far", "uniform mixture", "learned mixture"):
        assert words in out
    for name, gain in found["gains"].items():
        row = next(line for line in out.splitlines() if line.split()[:1] == [name])
        assert gain["verdict"] in row
        assert f"{100 * gain['mean']:+.1f}" in row
        assert f"{100 * found['trained']['goal'][name]['zero_one']['mean']:.1f}" in row
    assert "What stands between the target and its best" in out
    assert "source examples (N_ω)" in out
    assert "runs/tiny-distance/report.html" in out.replace("\n", "")


def test_json_is_the_file(call, study, trainings):
    status, out, err = call("distance", study.path, *SEEDS, "--json", "--out", "d")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found == result("d")
    assert (found["target"], found["sources"], found["seeds"]) == ("goal", ["near", "far"], [0, 1])
    assert set(found["trained"]["goal"]) == {"near", "far", "uniform", "learned"}
    assert found["metric"] == "accuracy"
    assert set(found["terms"]) == {"head", "sources", "mismatch", "dominant", "advice", "seeds"}
    near = found["trained"]["goal"]["near"]
    risks = [each["clipped"] for each in near["risks"]]
    best = [each["clipped"] for each in near["best"]]
    assert near["clipped"]["seeds"] == pytest.approx(np.subtract(risks, best).tolist())
    gain = found["gains"]["near"]
    kept = {
        what: [json.loads(Path(f"d/trainings/{seed}/{what}.json").read_text()) for seed in (0, 1)]
        for what in ("with-near", "alone-goal")
    }
    pairs = zip(kept["with-near"], kept["alone-goal"], strict=True)
    assert gain["values"] == pytest.approx([a["score"] - b["score"] for a, b in pairs])
    assert {"versions", "machine"} <= set(found)


def test_quiet_is_silent(call, study, trainings):
    assert call("distance", study.path, "--no-training", "--quiet", "--out", "d") == (0, "", "")
    assert Path("d", "report.html").exists()


def test_without_training_there_are_estimates_and_no_verdict(call, study, trainings):
    status, out, err = call("distance", study.path, "--no-training", "--out", "d")
    assert (status, err, trainings) == (0, "", [])
    assert "Nothing was trained, so there is no verdict." in out
    said = out.partition("no estimate ordered sources by what they gain the target")
    assert said[1]
    assert "Nearest by" not in said[0]
    assert "verdict" not in out.partition("Nothing was trained")[0]
    found = result("d")
    assert (found["trained"], found["gains"], found["terms"]) == ({}, {}, None)
    assert set(found["estimates"]["goal"]) == {"near", "far", "uniform"}
    assert not Path("d", "trainings").exists()
    assert call("distance", study.path, *ONE_SEED, "--out", "d", "--quiet")[0] == 0
    assert result("d")["gains"]


def test_a_matrix_has_every_task_as_a_target(call, study, trainings):
    with_test_examples(study)
    status, out, err = call("distance", study.path, "--matrix", *ONE_SEED, "--json", "--out", "d")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert {target: set(known) for target, known in found["trained"].items()} == {
        "goal": {"near", "far", "uniform", "learned"},
        "near": {"far", "goal"},
        "far": {"near", "goal"},
    }
    assert "From every task to every other" in Path("d", "report.html").read_text()


def test_weights_of_ones_own_are_one_more_mixture(call, study, trainings):
    status, out, err = call("distance", study.path, *ONE_SEED, *MIXTURE, "--out", "d")
    assert (status, err) == (0, "")
    assert "mostly mixture" in out
    found = result("d")
    assert found["mixtures"]["mostly"] == {"near": 0.75, "far": 0.25}
    assert found["rates"]["mostly"]["ratio"] == pytest.approx(3)
    assert len(found["trained"]["goal"]["mostly"]["clipped"]["seeds"]) == 1
    assert "tangent" in found["estimates"]["goal"]["mostly"]


def test_a_source_without_weight_can_be_shown_again(call, study, trainings):
    given = ("--weights", "only=near:1,far:0", "--out", "d", "--no-training", "--json")
    status, out, _ = call("distance", study.path, *given)
    assert status == 0
    assert "Infinity" not in out
    assert call("report", "d")[0] == 0


def test_one_seed_and_one_source_are_enough(call, study, trainings):
    study.set("sources", ["near"])
    status, out, err = call("distance", study.path, *ONE_SEED, "--out", "d")
    assert (status, err) == (0, "")
    assert "mixture" not in out
    found = result("d")
    assert found["mixtures"] == {}
    assert found["trained"]["goal"]["near"]["clipped"]["interval"] is None
    assert found["terms"] is not None


def test_numbers_are_a_target_too(call, study, trainings):
    for name, seed, size in (("train", 0, 20), ("test", 1, 25)):
        inputs = np.random.default_rng(seed).normal(size=(size, 4)).astype(np.float32)
        study.save(f"slant.{name}", inputs=inputs, labels=inputs[:, 0])
    study.set(
        "data.tasks.slant",
        {"kind": "regression", "train": "slant.train.npz", "test": "slant.test.npz"},
    ).set("target", "slant").set("sources", ["near"])
    status, out, err = call("distance", study.path, *ONE_SEED, "--out", "d")
    assert (status, err) == (0, "")
    found = result("d")
    assert found["metric"] == "r2"
    distance = found["trained"]["slant"]["near"]
    assert "zero_one" not in distance
    assert f"{distance['clipped']['mean']:.3f}" in out


def test_names_are_no_markup_in_a_terminal(call, study, trainings):
    study.rename("goal", "[/b]goal[red]").rename("near", "[/i]near")
    status, out, err = call("distance", study.path, "--no-training", "--out", "d")
    assert (status, err) == (0, "")
    assert "how far from [/b]goal[red]" in out
    assert "[/i]near" in out


# The page


def test_names_are_escaped_in_the_page(call, study, trainings):
    study.rename("near", HOSTILE).rename("goal", "goal " + HOSTILE)
    assert call("distance", study.path, *ONE_SEED, "--out", "d", "--quiet")[0] == 0
    text = Path("d", "report.html").read_text()
    page = Page(text)
    assert not {"img", "b"} & set(page.tags)
    assert "script" not in page.tags
    assert "</script" not in text
    assert HOSTILE in "".join(page.text)


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")
def test_the_page_opens_in_a_browser_with_its_plots_and_no_complaint(
    call, study, trainings, tmp_path
):
    with_test_examples(study).rename("near", HOSTILE).rename("far", "7")
    assert call("distance", study.path, *ONE_SEED, "--matrix", "--out", "d", "--quiet")[0] == 0
    document, said = opened(Path("d", "report.html").read_text(), tmp_path)
    assert said == []
    tags = Page(document).tags
    assert tags.count("figure") >= 3  # gains, distances, estimates against them
    assert "img" not in tags


def test_the_page_is_made_again_from_the_folder(call, study, trainings):
    assert call("distance", study.path, *ONE_SEED, "--out", "d", "--quiet")[0] == 0
    page = Path("d", "report.html")
    before = page.read_text()
    page.unlink()
    status, out, err = call("report", "d")
    assert (status, err) == (0, "")
    assert "d/report.html" in out
    assert page.read_text() == before
    for words in ("how far is each source", "Estimates against the trained distance", "verdict"):
        assert words in before
    assert call("report", "d", "--out", "elsewhere.html")[0] == 0
    assert Path("elsewhere.html").read_text() == before


def test_a_folder_with_estimates_that_are_no_longer_made_is_shown_with_them(call, study, trainings):
    assert call("distance", study.path, *ONE_SEED, "--out", "d", "--quiet")[0] == 0
    assert ">nce<" not in Path("d", "report.html").read_text()
    values = result("d")
    for number, found in enumerate(values["estimates"]["goal"].values()):
        found |= {"nce": -0.5 * number, "logme": 0.1, "h_score": 1.0, "transrate": 2.0}
        found["alignment"] = 0.25
    values["correlations"] |= {"nce": 0.75, "alignment": 0.5}
    write_sealed(Path("d", "distance.json"), values)
    status, _, err = call("report", "d")
    assert (status, err) == (0, "")
    page = Path("d", "report.html").read_text()
    for words in (">nce<", ">logme<", "alignment (ρ = 0.50)", "nce (ρ = 0.75)"):
        assert words in page


def test_a_damaged_result_has_no_page(call, study, trainings):
    assert call("distance", study.path, "--no-training", "--out", "d", "--quiet")[0] == 0
    values = json.loads(Path("d", "distance.json").read_text())
    del values["estimates"], values["sha256"]
    Path("d", "distance.json").write_text(json.dumps(values))
    status, _, err = call("report", "d")
    assert (status, err.count("\n")) == (2, 1)
    assert "damaged" in err


@pytest.mark.parametrize("content", ["[]", "3", "null", '"text"'])
def test_a_result_that_is_none_has_no_page(call, study, trainings, content):
    assert call("distance", study.path, "--no-training", "--out", "d", "--quiet")[0] == 0
    Path("d", "distance.json").write_text(content)
    status, _, err = call("report", "d")
    assert (status, err.count("\n")) == (2, 1)
    assert "distance.json is damaged" in err


# No promises


@pytest.mark.parametrize(
    "command", ["demo", "train", "compare", "distance", "reproduce", "predict"]
)
def test_help_promises_no_time(call, command):
    status, out, _ = call(command, "--help")
    assert status == 0
    assert not re.findall(r"\b(?:minutes?|hours?|(?:few|about \w+) seconds?)\b", out)
