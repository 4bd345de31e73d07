"""How weights move by default where the data is corpora."""

import json

import pytest

from tawt.runs.run import run
from tests.corpora.studies import CorpusStudy


@pytest.fixture
def study(tmp_path):
    study = CorpusStudy(tmp_path / "study")
    for name in ("sampling", "update_every", "gradient_examples"):
        del study.values["training"][name]
    return study.write()


def test_weights_are_not_bounded_and_updates_grow_rarer(study):
    config = study.config
    weighting = config.weighting
    assert (weighting.scale, weighting.anchor, weighting.ratio_bound) == (6.0, 0.1, None)
    training = config.training
    assert (training.update_every, training.update_growth) == (5, 0.25)
    assert (training.gradient_examples, training.target_examples) == (2, 32)
    assert training.sampling == "mixed"


def test_what_a_file_says_counts(study):
    study.set("weighting", {"scale": 2.0, "ratio_bound": 50.0}).set("training.update_growth", 0.0)
    config = study.config
    assert (config.weighting.scale, config.weighting.ratio_bound) == (2.0, 50.0)
    assert (config.training.update_growth, config.training.target_examples) == (0.0, 32)


def test_the_authors_rule_stays_theirs(study):
    study.set("weighting.preset", "paper").set("training.steps", None)
    weighting = study.config.weighting
    assert (weighting.scale, weighting.anchor, weighting.ratio_bound) == (1.0, 0.0, None)
    training = study.config.training
    assert (training.update_growth, training.target_examples) == (0, None)
    assert training.sampling == "size"


def test_finer_units_keep_the_preset(study):
    study.set("weighting.unit", "example")
    assert (study.config.weighting.scale, study.config.weighting.ratio_bound) == (1.0, 10.0)
    training = study.config.training
    assert (training.update_every, training.gradient_examples) == (25, 16)
    assert training.sampling == "mixed"  # as all steps on corpora


def test_updates_come_when_they_are_due(study):
    study.set("training.steps", 60)
    run(study.config, study.folder.parent / "run")
    lines = (study.folder.parent / "run" / "weights.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [5, 10, 15, 20, 25, 31, 38, 47, 58]
