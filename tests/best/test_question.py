"""The whole search: what it decides, what it leaves, and how it goes on."""

import json
from dataclasses import replace

import pytest

from tawt.best import best, examined, load_best, question
from tawt.best.recipes import Recipe
from tawt.config import load
from tawt.errors import ConfigError, DataError, Interrupted, RunError, TrainingError
from tawt.runs import Options, RunFolder
from tawt.sweeps import Sweep
from tests.conftest import labelled


def searched(study, folder, *, budget="4", overwrite=False, **sweep):
    return best(
        load(study.path),
        folder,
        budget=budget,
        options=Options(device="cpu", overwrite=overwrite),
        sweep=Sweep(**sweep) if sweep else None,
    )


def test_a_source_that_helps_is_used_and_the_answer_says_by_how_much(few, tmp_path):
    few.set("sources", ["near"])
    found = searched(few, tmp_path / "best")
    assert found.uses_sources
    assert found.candidate(found.chosen).recipe["sources"] == ["near"]
    assert found.worse < 0.1
    assert found.test["best"] > found.test["alone"] + 0.05
    assert found.test_gain[0] == pytest.approx(found.test["best"] - found.test["alone"])
    assert load_best(tmp_path / "best") == found
    for name in ("best", "alone"):
        assert (tmp_path / "best" / name / "model").is_dir()
    kept = RunFolder(tmp_path / "best" / "best").config()
    assert kept.sources == ["near"]
    assert kept.fold.part is None
    assert "Use " in (tmp_path / "best" / "best.md").read_text()


def test_what_half_of_the_examples_costs_says_what_to_do_next(few, tmp_path):
    few.set("sources", ["near"])
    few.save("goal.train", **labelled(5, 12))
    few.save("goal.dev", **labelled(6, 12))
    found = searched(few, tmp_path / "best", budget="2")
    assert found.uses_sources
    target, sources = found.halves
    assert (target.whose, target.examples) == ("target", 24)
    assert (sources.whose, sources.examples) == ("sources", 240)
    for each in found.halves:
        mean, low, high = each.gain
        assert low < mean < high
        folder = tmp_path / "best" / "halves" / f"{found.chosen:03d}" / each.whose
        records = [RunFolder(folder / str(part)).record() for part in (1, 2, 3, 4)]
        kept = {name: record["data"][name]["train"]["examples"] for record in records
                for name in ("goal", "near")}  # fmt: skip
        assert (
            kept
            == {"target": {"goal": 9, "near": 240}, "sources": {"goal": 18, "near": 120}}[
                each.whose
            ]
        )
    whole = [RunFolder(tmp_path / "best" / "candidates" / f"{found.chosen:03d}" / str(part))
             for part in (1, 2, 3, 4)]  # fmt: skip
    half = [RunFolder(folder / str(part)) for part in (1, 2, 3, 4)]
    scores = [[run.record()["scores"]["goal"]["test"]["accuracy"] for run in runs]
              for runs in (whole, half)]  # fmt: skip
    by_hand = sum(scores[0]) / 4 - sum(scores[1]) / 4
    assert sources.gain[0] == pytest.approx(by_hand)
    said = (tmp_path / "best" / "best.md").read_text()
    assert "all 240 examples of the sources" in said
    assert "What more examples may be worth" in (tmp_path / "best" / "report.html").read_text()


def test_a_half_that_cannot_be_trained_on_costs_no_answer(few, tmp_path, monkeypatch):
    def broken(*given, **named):
        raise DataError("There is no half.")

    monkeypatch.setattr("tawt.runs.building.halved", broken)
    for _ in range(2):  # the same call again, too
        found = searched(few, tmp_path / "best", budget="2")
        assert found.halves == []
        assert (tmp_path / "best" / "best.md").exists()


def test_another_choice_leaves_another_model(few, tmp_path, monkeypatch):
    few.set("sources", ["near"])
    first = searched(few, tmp_path / "best", budget="4")
    assert first.uses_sources

    def alone(*given, **named):
        found = decided(*given, **named)
        return replace(found, chosen=found.alone)

    decided = question.decided
    monkeypatch.setattr(question, "decided", alone)
    second = searched(few, tmp_path / "best", budget="4")
    assert not second.uses_sources
    assert RunFolder(tmp_path / "best" / "best").config().paradigm == "single-task"
    assert not (tmp_path / "best" / "alone").exists()
    assert second.test == {"best": first.test["alone"]}


def test_noise_is_not_used(few, tmp_path):
    few.save("near.train", **labelled(3, 60, noise=True))
    found = searched(few, tmp_path / "best", budget="3")
    assert not found.uses_sources
    assert found.rival is not None
    assert found.worse >= 0.1
    assert not (tmp_path / "best" / "alone").exists()
    assert list(found.test) == ["best"]


def test_test_examples_are_scored_once_and_by_no_candidate(few, tmp_path):
    found = searched(few, tmp_path / "best", budget="3")
    sizes = set()
    for trial in found.candidates:
        for part in range(1, trial.parts + 1):
            path = tmp_path / "best" / "candidates" / f"{trial.number:03d}" / str(part)
            data = json.loads((path / "data.json").read_text())["goal"]
            sizes.add(data["test"]["examples"])
            assert data["train"]["examples"] + data["test"]["examples"] == 48
    assert sizes == {12}


def test_a_stopped_search_goes_on_and_more_budget_tries_more(few, tmp_path, in_process):
    in_process.limit = 5
    with pytest.raises(Interrupted):
        searched(few, tmp_path / "best", budget="3", workers=1)
    made = list(in_process)
    in_process.limit = None
    found = searched(few, tmp_path / "best", budget="3", workers=1)
    assert len(set(in_process)) == len(in_process)  # nothing was made twice
    assert in_process[: len(made)] == made
    whole = searched(few, tmp_path / "whole", budget="3", workers=1)
    assert [each.recipe for each in found.candidates] == [each.recipe for each in whole.candidates]
    assert found.chosen == whole.chosen
    more = searched(few, tmp_path / "best", budget="4", workers=1)
    assert len(more.candidates) == 4
    assert more.candidates[:3] == [
        replace(each, gain=now.gain)
        for each, now in zip(found.candidates, more.candidates, strict=False)
    ]


def test_a_candidate_that_fails_is_said_and_the_rest_goes_on(few, tmp_path, monkeypatch):
    applied = Recipe.applied

    def broken(recipe, config, fold, *, name):
        if recipe.uses_sources and fold.part is not None:
            config = config.model_copy(update={"sources": ["far"]})
            raise_later = replace(recipe, sources=("absent",))
            return applied(raise_later, config, fold, name=name)
        return applied(recipe, config, fold, name=name)

    monkeypatch.setattr(Recipe, "applied", broken)
    found = searched(few, tmp_path / "best", budget="3")
    assert not found.uses_sources
    failed = [each for each in found.candidates if each.state == "failed"]
    assert failed
    assert all("absent" in each.error for each in failed)
    assert "could not be trained" in (tmp_path / "best" / "best.md").read_text()


def test_where_the_target_alone_fails_there_is_no_answer(few, tmp_path, monkeypatch):
    def diverging(*given, **named):
        raise TrainingError("The loss is not a number.")

    monkeypatch.setattr("tawt.sweeps.runs.run", diverging)
    with pytest.raises(TrainingError, match=r"target alone could not be trained: The loss is not"):
        searched(few, tmp_path / "best", budget="2")


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (("sources", []), ConfigError, "no source"),
        (("target", {"goal": 0.5, "near": 0.5}), ConfigError, "one target"),
        (("fold", {"part": 1}), ConfigError, "leave `fold` out"),
        (("weighting.unit", "example"), ConfigError, "whole sources"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_nothing_written(
    few, tmp_path, change, error, said
):
    few.set(*change)
    with pytest.raises(error, match=said):
        searched(few, tmp_path / "best")
    assert not (tmp_path / "best").exists()


def test_ten_examples_are_too_few(study, tmp_path):
    study.save("goal.train", **labelled(0, 10))
    del study.values["data"]["tasks"]["goal"]["dev"]
    study.write()
    with pytest.raises(DataError, match="10 labelled examples"):
        searched(study, tmp_path / "best")
    assert not (tmp_path / "best").exists()


def test_another_configuration_or_other_data_are_refused(few, tmp_path, listing):
    searched(few, tmp_path / "best", budget="2")
    before = listing(tmp_path / "best")
    few.save("far.train", **labelled(9, 60, noise=True))
    with pytest.raises(RunError, match="task 'far'"):
        searched(few, tmp_path / "best", budget="2")
    few.set("epochs", 3)
    with pytest.raises(RunError, match="another configuration"):
        searched(few, tmp_path / "best", budget="2")
    assert listing(tmp_path / "best") == before
    found = searched(few, tmp_path / "best", budget="2", overwrite=True)
    assert len(found.candidates) == 2


def test_a_folder_of_something_else_is_left_alone(few, tmp_path, listing):
    (tmp_path / "best").mkdir()
    (tmp_path / "best" / "thesis.txt").write_text("years of work")
    before = listing(tmp_path / "best")
    with pytest.raises(RunError, match="no search and is not empty"):
        searched(few, tmp_path / "best", overwrite=True)
    assert listing(tmp_path / "best") == before


def test_passes_over_the_target_follow_its_size_where_none_are_given(few):
    assert examined(load(few.path)).config.target_epochs == 6
    del few.values["target_epochs"]
    few.write()
    assert examined(load(few.path)).config.target_epochs == 30  # 48 examples: three steps a pass
    few.set("training.batch_size", 1)
    assert examined(load(few.path)).config.target_epochs == 4
