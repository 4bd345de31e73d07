"""How weights move by default where the data is corpora."""

import json

import pytest
import yaml

from tawt.compare.question import compare
from tawt.config import parsed
from tawt.config.schema import dumped
from tawt.errors import ConfigError
from tawt.runs.run import Options, run
from tawt.sweeps import Sweep
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
    assert (training.most_passes, training.passes_limit) == ("usual", 12.0)


@pytest.mark.parametrize(("given", "limit"), [(None, None), (3, 3), ("usual", 12.0)])
def test_a_file_may_set_another_limit_on_passes_or_none(study, given, limit):
    study.set("training.most_passes", given)
    assert study.config.training.passes_limit == limit
    kept = parsed(yaml.safe_load(dumped(study.config)))
    assert kept.training.passes_limit == limit


@pytest.mark.parametrize("given", [0, -1, "often"])
def test_other_limits_are_refused(study, given):
    study.set("training.most_passes", given)
    with pytest.raises(ConfigError, match=r"`(training\.)?most_passes`"):
        _ = study.config


def test_a_usual_limit_that_is_too_low_is_lifted_with_one_warning(study, caplog):
    # 67 and 65 windows, 12 times: 1584, of which 198 steps of 8 can be made.
    study.set("training.steps", 198)
    record = run(study.config, study.folder.parent / "held")
    assert all(record["passes"][name] == pytest.approx(12) for name in ("near", "far"))
    assert "most_passes" not in caplog.text
    study.set("training.steps", 200)
    record = run(study.config, study.folder.parent / "lifted")
    assert record["passes"]["near"] > 13
    said = [line for line in caplog.text.splitlines() if "most_passes" in line]
    assert len(said) == 1
    assert "`steps` (200) of 8 examples need 1600, but `most_passes` (usual, 12)" in said[0]
    assert "give 1584, so there is no limit on passes" in said[0]


def test_a_comparison_says_so_once(study, caplog):
    study.set("training.steps", 200)
    rows = ["learned weights", "equal weights"]
    compare(
        study.config,
        study.folder.parent / "compared",
        rows=rows,
        seeds=[0],
        options=Options(device="cpu", save_model=False),
        sweep=Sweep(),
    )
    said = [each for each in caplog.records if "most_passes" in each.getMessage()]
    assert len(said) == 1


@pytest.mark.parametrize("given", [{"sampling": "size"}, {"steps": None}])
def test_the_usual_limit_does_not_stand_in_the_way_of_other_settings(study, given):
    for name, value in {"steps": None, **given}.items():
        study.set(f"training.{name}", value)
    assert run(study.config, study.folder.parent / "run")["steps"] == 2 * (9 + 9)


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
