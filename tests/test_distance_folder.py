"""The folder of `tawt distance`: nothing is trained twice or lost, and mistakes are one line."""

import json
from pathlib import Path

import pytest

from tests.conftest import labelled

PER_SEED = 9  # trainings of a target with two sources


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch, study):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    study.set("epochs", 1).set("target_epochs", 1)


@pytest.fixture
def distance(call, study, trainings):
    """Run the command for the study: its exit status, what it printed, and what was trained."""

    def called(*arguments, seeds=1, folder="d"):
        trainings.clear()
        status, out, err = call(
            "distance", study.path, "--seeds", seeds, "--out", folder, "--json", *arguments
        )
        return status, out, err, list(trainings)

    return called


def refused(answer, *words):
    """Exit 2, one line that says so, and nothing trained."""
    status, out, err, trained = answer
    assert (status, out, trained) == (2, "", [])
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


def without_times(text):
    found = json.loads(text)
    del found["seconds"]
    return found


# Going on


def test_nothing_is_trained_again(distance):
    _, first, _, trained = distance(seeds=2)
    assert len(trained) == 2 * PER_SEED
    kept = {path: path.stat().st_mtime_ns for path in Path("d", "trainings").rglob("*.json")}
    assert len(kept) == 2 * PER_SEED
    status, again, _, trained = distance(seeds=2)
    assert (status, trained) == (0, [])
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert without_times(again) == without_times(first)


def test_only_what_is_new_is_trained(distance, study):
    for name, seed in (("near", 10), ("far", 11)):
        study.save(f"{name}.test", **labelled(seed, 12))
        study.set(f"data.tasks.{name}.test", f"{name}.test.npz")
    assert len(distance()[3]) == PER_SEED
    assert {line.partition(", ")[2] for line in distance(seeds=2)[3]} == {"seed 1"}
    given = ("--weights", "mine=near:0.75,far:0.25")
    assert distance(*given)[3] == ["sources mine, seed 0"]
    assert distance(*given)[3] == []
    other = ("--weights", "mine=near:0.5,far:0.5")
    status, out, _, trained = distance(*other)
    assert (status, trained) == (0, ["sources mine, seed 0"])
    assert json.loads(out)["mixtures"]["mine"] == {"near": 0.5, "far": 0.5}
    # Frozen encoders are measured on more tasks then; what is scored is scored on the target.
    trained = distance("--matrix")[3]
    assert sorted(trained) == [
        f"{name}, seed 0"
        for name in ("half uniform", "learned learned", "own far", "own goal", "own near",
                     "sources uniform")
    ]  # fmt: skip
    assert distance("--matrix")[3] == []


def test_a_stop_loses_nothing_that_is_finished(distance, call, trainings):
    trainings.limit = 4
    status, _, err, first = distance()
    assert (status, len(first)) == (130, 4)
    assert "Stopped" in err
    assert call("report", "d")[0] == 2  # there is no result yet
    trainings.limit = None
    status, out, _, rest = distance()
    assert (status, len(rest)) == (0, PER_SEED - 4)
    assert not set(first) & set(rest)
    whole = distance(folder="in-one-go")[1]
    assert without_times(out) == without_times(whole)


def test_tasks_whose_names_look_alike_in_a_file_s_name_have_files_of_their_own(distance, study):
    study.rename("near", "a b").rename("far", "a-b")
    first = distance()[1]
    assert len(list(Path("d").rglob("trainings/0/*.json"))) == PER_SEED
    _, again, _, trained = distance()
    assert trained == []
    assert without_times(again) == without_times(first)


# What the folder holds is not mixed with something else


def test_another_configuration_is_refused(distance, study, listing):
    assert distance()[0] == 0
    before = listing("d")
    study.set("training.learning_rate", 0.02)
    refused(distance(), "holds the distances of something else", "learning_rate", "--overwrite")
    refused(distance("--no-training"), "learning_rate")
    assert listing("d") == before
    status, _, _, trained = distance("--overwrite")
    assert (status, len(trained)) == (0, PER_SEED)
    assert distance()[3] == []


def test_other_data_is_refused(distance, study, listing):
    assert distance()[0] == 0
    before = listing("d")
    study.save("far.train", **labelled(99, 27))
    refused(distance(), "the data has changed")
    assert listing("d") == before
    assert len(distance("--overwrite")[3]) == PER_SEED


def test_after_a_stop_what_was_overwritten_is_not_shown_as_new(distance, study, trainings, call):
    assert distance()[0] == 0
    study.set("training.learning_rate", 0.02)
    trainings.limit = 0
    assert distance("--overwrite")[0] == 130
    assert call("report", "d")[0] == 2


def test_a_run_s_folder_is_refused(distance, study, call, listing):
    assert call("train", study.path, "--out", "d", "--quiet")[0] == 0
    before = listing("d")
    refused(distance("--no-training"), "holds a single run")
    refused(distance("--no-training", "--overwrite"), "holds a single run")
    assert listing("d") == before


@pytest.mark.parametrize("option", [(), ("--overwrite",)])
def test_files_of_somebody_else_are_left_alone(distance, listing, option):
    Path("d", "trainings").mkdir(parents=True)
    Path("d", "trainings", "precious.txt").write_text("mine")
    Path("d", "data.json").write_text("mine too")
    before = listing("d")
    refused(distance("--no-training", *option), "holds no distances and is not empty")
    assert listing("d") == before
    Path("file").write_text("a file")
    refused(distance("--no-training", *option, folder="file"), "file")


# Mistakes


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ("near:1", "NAME=SOURCE:WEIGHT"),
        ("=near:1", "NAME=SOURCE:WEIGHT"),
        ("mine=", "NAME=SOURCE:WEIGHT"),
        ("mine=near", "NAME=SOURCE:WEIGHT"),
        ("mine=near:much", "NAME=SOURCE:WEIGHT"),
        ("mine=:1", "NAME=SOURCE:WEIGHT"),
        ("mine=near:0.5,far:0.4", "sum to 0.9"),
        ("mine=near:1.5,far:-0.5", "at least 0"),
        ("mine=near:nan", "at least 0"),
        ("mine=nera:1", "did you mean 'near'"),
        ("mine=goal:1", "no source 'goal'"),
        ("uniform=near:1", "cannot be called 'uniform'"),
        ("near=near:1", "cannot be called 'near'"),
    ],
)
def test_weights_that_make_no_mixture_are_refused(distance, weights, words):
    refused(distance("--no-training", "--weights", weights), words)
    assert not Path("d").exists()


def test_two_mixtures_of_one_name_are_refused(distance):
    refused(distance("--weights", "mine=near:1", "--weights", "mine=far:1"), "given twice")


def test_what_the_configuration_cannot_give_is_refused(distance, study):
    study.set("sources", ["nera"])
    refused(distance(), "no task 'nera'", "did you mean 'near'", str(study.path))
    study.set("sources", [])
    refused(distance(), "no source")
    study.set("sources", None).set("target", {"goal": 0.5, "near": 0.5})
    refused(distance(), "one target", f"{study.path}:")
    study.set("target", "near")
    refused(distance(), "'near' has neither dev nor test examples")
    study.set("target", "goal")
    refused(distance("--matrix"), "'near' has neither dev nor test examples")
    study.rename("near", "learned")
    refused(distance(), "'learned'", "rename")
    assert not Path("d").exists()


def test_dev_examples_are_enough(distance, study):
    del study.values["data"]["tasks"]["goal"]["test"]
    study.write()
    status, out, _, trained = distance()
    assert (status, len(trained)) == (0, PER_SEED)
    assert json.loads(out)["gains"]["near"]["values"]
