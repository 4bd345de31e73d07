"""The folder of `tawt distance`: nothing is trained twice or lost, and mistakes are one line."""

import itertools
import json
import math
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tawt.distance import Estimator, SampleSizes
from tawt.distance.folder import KeptEstimates
from tawt.distance.pieces import PieceResult, pieces
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
    found.pop("sha256", None)  # of a file: over times too
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


# Estimates are kept too


@pytest.fixture
def stopping(monkeypatch):
    """Have a stop asked for when it has been looked for so many times."""

    def after(times):
        left = itertools.count(times, -1)

        @contextmanager
        def stop_on_signals():
            yield lambda: next(left) <= 0

        monkeypatch.setattr("tawt.cli.distances.stop_on_signals", stop_on_signals)

    yield after
    monkeypatch.undo()


def estimated_files():
    return {path: path.read_bytes() for path in Path("d", "estimates").glob("*.json")}


def test_nothing_is_estimated_again(distance, monkeypatch):
    first = distance("--no-training")[1]
    kept = {path: path.stat().st_mtime_ns for path in estimated_files()}
    assert len(kept) == 7  # of target and sources by heads and by steps, and of a mixture
    monkeypatch.setattr(Estimator, "_estimate_piece", None)  # would be called
    status, again, _, _ = distance("--no-training")
    assert status == 0
    assert json.loads(again) == json.loads(first)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_a_stop_within_estimates_keeps_and_shows_what_was_found(call, study, stopping):
    command = ("distance", study.path, "--no-training", "--out")
    assert call(*command, "whole", "--quiet")[0] == 0
    shown = 0
    for times in itertools.count(60, 60):
        before = estimated_files()
        stopping(times)
        status, out, err = call(*command, "d")
        if status == 0:
            break
        assert status == 130
        assert err.count("\n") == 1
        assert "what was found is kept in d" in err
        of_sources = [path for path in estimated_files() if not path.name.startswith("own")]
        assert ("so far" in out) == bool(of_sources)
        assert before.items() <= estimated_files().items()
        assert not Path("d", "distance.json").exists()
        shown += "near" in out
    assert shown
    found, whole = (
        without_times(Path(folder, "distance.json").read_text()) for folder in ("d", "whole")
    )
    assert found == whole


def test_a_stop_between_trainings_shows_those_that_are_done(call, study, trainings):
    trainings.limit = 8
    given = ("--seeds", 1, "--jobs", 1, "--out", "d")
    status, out, _ = call("distance", study.path, *given)
    assert status == 130
    assert "how far from goal, so far" in out
    assert "uniform mixture" in out
    trainings.limit = None
    assert call("distance", study.path, *given, "--quiet")[0] == 0


def test_a_stop_shows_no_table_where_it_was_not_asked_for(call, study, stopping):
    for option in ("--quiet", "--json"):
        stopping(12)
        status, out, _ = call("distance", study.path, "--no-training", "--out", "d", option)
        assert (status, out) == (130, "")


def test_estimates_of_something_else_are_not_taken(tmp_path):
    [piece] = [each for each in pieces(["near"], ["goal"], {}) if each.what == "steps"]
    found = PieceResult({"goal": {"tangent": 0.1, "leep": math.nan}}, {"tangent": 2.0})
    sizes = SampleSizes()
    KeptEstimates(tmp_path, seed=0, sizes=sizes).keep(piece, found)

    def known(seed=0, sizes=sizes, **given):
        return KeptEstimates(tmp_path, seed=seed, sizes=sizes).known(replace(piece, **given))

    again = known()
    assert again.values["goal"]["tangent"] == 0.1
    assert math.isnan(again.values["goal"]["leep"])
    assert known(seed=1) is None
    assert known(sizes=replace(sizes, step=255)) is None
    assert known(weights=(("near", 0.5),)) is None
    assert known(targets=("goal", "other")) is None
    assert known(name="far") is None


def test_a_kill_before_the_second_file_is_no_reason_to_refuse_the_folder(distance):
    whole = distance("--no-training", folder="whole")[1]
    Path("d").mkdir()
    Path("d", "distance.yaml").write_bytes(Path("whole", "distance.yaml").read_bytes())
    status, out, _, _ = distance("--no-training")
    assert status == 0
    assert without_times(out) == without_times(whole)
    assert Path("d", "data.json").read_bytes() == Path("whole", "data.json").read_bytes()


def test_files_that_a_kill_left_half_written_are_removed(distance):
    assert distance("--no-training")[0] == 0
    Path("d", "trainings", "0").mkdir(parents=True)
    for name in (".x.1.partial", "estimates/.y.2.partial", "trainings/0/.z.3.partial"):
        Path("d", name).write_text("{")
    assert distance("--no-training")[0] == 0
    assert not list(Path("d").rglob("*.partial"))


def test_a_folder_that_is_being_written_is_refused(distance):
    with in_another_process("d"):
        refused(distance("--no-training"), "is being written by process")


@contextmanager
def in_another_process(folder):
    """Hold a folder's lock, as a second command would."""
    held = (
        f"from pathlib import Path; from tawt.files.locks import locked\n"
        f"with locked(Path({folder!r})):\n    print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield
        process.communicate("\n")


@pytest.mark.parametrize("content", ["[]", "3", "null", '"text"', "{}", "{"])
def test_a_damaged_estimate_is_refused_in_one_line(distance, content):
    assert distance("--no-training")[0] == 0
    Path("d", "estimates", "steps-near.json").write_text(content)
    refused(distance("--no-training"), "steps-near.json", "Delete it")


def test_a_number_that_was_changed_is_noticed(distance, call):
    assert distance()[0] == 0
    for name in ("trainings/0/own-goal.json", "estimates/steps-near.json", "distance.json"):
        path, before = Path("d", name), Path("d", name).read_text()
        path.write_text(re.sub(r"0\.(\d)", lambda found: f"0.{9 - int(found[1])}", before, count=1))
        if name == "distance.json":
            status, _, err = call("report", "d")
            assert status == 2
            assert "checksum" in err
        else:
            refused(distance(), name, "checksum")
        path.write_text(before)
    assert distance()[0] == 0


@pytest.mark.parametrize("content", ["[]", "3", "null", '"text"'])
def test_a_damaged_training_is_refused_in_one_line(distance, content):
    assert distance()[0] == 0
    Path("d", "trainings", "0", "own-goal.json").write_text(content)
    refused(distance(), "own-goal.json is damaged", "Delete it")


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
