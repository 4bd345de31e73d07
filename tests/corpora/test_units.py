"""Weights on the groups of documents, and on single windows."""

import numpy as np
import pytest
import torch
from safetensors.torch import load

from tawt.runs import RunFolder, units
from tawt.runs.auditing import audit
from tawt.runs.building import build_parts
from tawt.runs.run import run
from tests.corpora.files import sentences
from tests.corpora.studies import OTHERS, CorpusStudy, contents, resumed, said


@pytest.fixture
def study(tmp_path):
    """One source that mixes text like the target with text unlike it, and says which is which."""
    study = CorpusStudy(tmp_path / "study", sources=["mixed"])
    like = [{"text": text, "kind": "like"} for text in sentences(40, seed=1)]
    unlike = [{"text": text, "kind": "unlike"} for text in sentences(40, seed=2, words=OTHERS)]
    study.records("mixed", [*like, *unlike], group="kind")
    return study.set("training.steps", 40)


def test_groups_of_documents_that_are_like_the_target_gain(study, tmp_path, call):
    study.set("weighting", {"unit": "group", "group": {"by": "column"}})
    run(study.config, tmp_path / "run")
    weights = units.read(tmp_path / "run").weights
    tasks, *_ = build_parts(study.config)
    windows = next(task for task in tasks if task.name == "mixed").train
    groups = np.array(list(windows.groups()))
    factors = np.asarray(weights.relative("mixed", np.arange(len(windows))))
    assert factors[groups == "like"].mean() > 1.5 * factors[groups == "unlike"].mean()
    for group in ("like", "unlike"):  # one weight to a group
        assert np.unique(factors[groups == group].round(6)).size == 1
    assert "unlike" in (tmp_path / "run/report.html").read_text()
    status, out, _ = call("audit", tmp_path / "run", "--most", "5")
    assert status == 0
    assert len(out.splitlines()) == 6


def test_clusters_of_windows_are_groups_where_documents_name_none(study, tmp_path):
    words = ["the", "cat", "sat", "on", "a", "mat", "and", "dog"]
    like = [" ".join(sentences(9, seed=number)) for number in range(12)]
    unlike = [" ".join(sentences(9, seed=number, words=OTHERS)) for number in range(12)]
    texts = [text for pair in zip(like, unlike, strict=True) for text in pair]
    study.text("mixed", train=texts).set("data.window", 48)
    study.set("weighting", {"unit": "group", "group": {"by": "cluster", "count": 2}})
    record = run(study.config, tmp_path / "run")
    weights = units.read(tmp_path / "run").weights
    tasks, *_ = build_parts(study.config)
    windows = next(task for task in tasks if task.name == "mixed").train
    factors = np.asarray(weights.relative("mixed", np.arange(len(windows))))
    shown = [windows.show(index).text.split() for index in range(len(windows))]
    is_like = np.array([sum(word in words for word in text) > len(text) / 2 for text in shown])
    assert np.unique(factors.round(6)).size == 2
    assert factors[is_like].mean() > 1.5 * factors[~is_like].mean()
    assert "groups" not in record["data"]["mixed"]


def test_windows_that_are_like_the_target_gain(study, tmp_path, call):
    study.set("weighting", {"unit": "example"})
    run(study.config, tmp_path / "run")
    rows = audit(tmp_path / "run", most=10)
    assert {row["label"] for row in rows} == {None}
    # Those that agree least are of the text unlike the target.
    assert all(set(row["text"].split()) & set(OTHERS) for row in rows[:5])
    assert call("audit", tmp_path / "run", "--json")[0] == 0


@pytest.mark.parametrize(
    "weighting", [{"unit": "group", "group": {"by": "column"}}, {"unit": "example"}]
)
@pytest.mark.parametrize("objective", ["causal", "masked"])
def test_such_runs_are_resumed_to_the_same_numbers(study, tmp_path, weighting, objective):
    study.set("weighting", weighting).set("training.steps", 16).set("model.objective", objective)
    whole = run(study.config, tmp_path / "whole")
    record = resumed(study, tmp_path / "stopped", stop=9)
    ours, theirs = (
        {key: value for key, value in said(each).items() if key != "files"}
        for each in (record, whole)
    )
    assert ours == theirs
    found = {name: contents(tmp_path / name) for name in ("stopped", "whole")}
    # The order of names within this file is drawn anew each time.
    one, other = (load(found[name].pop("unit_weights.safetensors")) for name in found)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert found["stopped"] == found["whole"]
    assert RunFolder(tmp_path / "stopped").shown_units() is not None


@pytest.mark.parametrize("paradigm", ["joint", "pre-training"])
def test_windows_are_weighed_in_every_paradigm(study, tmp_path, paradigm):
    study.set("paradigm", paradigm).set("weighting", {"unit": "example"})
    study.set("training.sampling", "size").set("training.steps", None)
    record = run(study.config, tmp_path / "run")
    assert record["scores"]["goal"]["test"]["bits_per_byte"] > 0
