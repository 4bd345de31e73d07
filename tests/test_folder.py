"""Run folders: what may be written where, and files that are whole or not there."""

import json
import os
import subprocess
import sys

import pytest
import torch
import yaml

import tawt
from tawt import files
from tawt.config import load
from tawt.config.schema import dumped, parsed
from tawt.errors import ConfigError, Interrupted, RunError, TawtError, TrainingError
from tawt.runs import Options, RunFolder, run
from tawt.runs.reading import record_of
from tawt.weights import WeightUpdate
from tests.conftest import unsealed

CONFIG = parsed({"data": {"kind": "digits"}, "target": "digit"})


def refused(action, *words):
    """The error is one line that holds these words."""
    with pytest.raises(RunError) as error:
        action()
    message = str(error.value)
    assert "\n" not in message
    for word in words:
        assert word in message
    return message


@pytest.fixture
def finished(study, tmp_path):
    """A finished run: its configuration and its folder."""
    config = load(study.path)
    run(config, tmp_path / "run")
    return config, tmp_path / "run"


@pytest.fixture
def unfinished(study, tmp_path):
    """A run stopped after four steps."""
    config = load(study.path)
    steps = iter([False] * 3)
    with pytest.raises(Interrupted):
        run(config, tmp_path / "run", should_stop=lambda: next(steps, True))
    return config, tmp_path / "run"


# What a run leaves


def test_a_run_leaves_what_the_design_says(finished):
    config, path = finished
    names = {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}
    assert names == {
        ".lock",
        "config.yaml",
        "data.json",
        "record.json",
        "weights.jsonl",
        "predictions.dev.tsv",
        "predictions.test.tsv",
        "model/model.safetensors",
        "model/model.json",
        "report.html",
    }
    assert not (path / "checkpoints").exists()
    folder = RunFolder(path)
    assert folder.config() == config
    record = folder.record()
    assert record["weights"].keys() == {"near", "far", "goal"}
    assert record["data"]["near"]["train"]["examples"] == 32
    assert record["versions"].keys() >= {"tawt", "torch", "python"}
    assert record["metric"] == {"goal": "accuracy"}


def test_the_history_is_one_line_an_update(finished):
    _, path = finished
    updates = RunFolder(path).updates()
    # 3 + 4 + 4 batches an epoch, two epochs, an update every third step, later ones further apart
    assert [update["step"] for update in updates] == [3, 6, 9, 12, 15, 18, 22]
    assert len((path / "weights.jsonl").read_text().splitlines()) == 7
    assert updates[-1]["weights"] == pytest.approx(RunFolder(path).record()["weights"])
    for update in updates:
        assert sum(update["weights"].values()) == pytest.approx(1)
        assert update["alignments"].keys() == update["norms"].keys() == update["weights"].keys()


def test_predictions_agree_with_the_scores(finished):
    _, path = finished
    folder = RunFolder(path)
    scores = folder.example_scores("goal")
    assert len(scores) == 25
    record = folder.record()
    assert sum(scores) / 25 == pytest.approx(record["scores"]["goal"]["test"]["accuracy"])
    lines = (path / "predictions.test.tsv").read_text().splitlines()
    assert lines[0] == "task\tgold\tpredicted\tscore"
    right = sum(line.split("\t")[1] == line.split("\t")[2] for line in lines[1:])
    assert right == sum(scores)


def test_the_record_has_the_scores_of_each_label(finished):
    _, path = finished
    record = RunFolder(path).record()
    assert record["labels"]["goal"].keys() == {"dev", "test"}
    lines = (path / "predictions.test.tsv").read_text().splitlines()[1:]
    gold, predicted = zip(*(line.split("\t")[1:3] for line in lines), strict=True)
    for label, score in record["labels"]["goal"]["test"].items():
        right = sum(g == p == label for g, p in zip(gold, predicted, strict=True))
        assert score["support"] == gold.count(label)
        assert score["recall"] == pytest.approx(right / max(1, gold.count(label)))
        assert score["precision"] == pytest.approx(right / max(1, predicted.count(label)))
    assert sum(score["support"] for score in record["labels"]["goal"]["test"].values()) == 25


def test_a_record_without_scores_of_labels_is_read(finished):
    """Those of older versions have none."""
    _, path = finished
    unsealed(path)
    record = json.loads((path / "record.json").read_text())
    del record["labels"]
    (path / "record.json").write_text(json.dumps(record))
    assert record_of(RunFolder(path)) == record


@pytest.mark.parametrize("damaged", [3, {"goal": {"test": {"0": {"f1": "high"}}}}])
def test_damaged_scores_of_labels_are_refused(finished, damaged):
    _, path = finished
    unsealed(path)
    record = json.loads((path / "record.json").read_text()) | {"labels": damaged}
    (path / "record.json").write_text(json.dumps(record))
    refused(lambda: record_of(RunFolder(path)), "record.json", "labels")


def test_the_saved_parameters_are_those_that_were_scored(finished):
    from safetensors.torch import load_file

    from tawt.runs import building

    config, path = finished
    tasks = building.tasks(config)
    model = building.model(config, tasks)
    model.load_state_dict(load_file(path / "model" / "model.safetensors"))
    model.eval()
    test = tasks[-1].test
    right = (model(test.inputs, "goal").argmax(1) == test.labels).float().tolist()
    assert right == RunFolder(path).example_scores("goal")
    about = json.loads((path / "model" / "model.json").read_text())
    assert [head["task"] for head in about["heads"]] == ["near", "far", "goal"]
    assert about["input_shape"] == [4]


# Who may write


def test_a_finished_run_is_not_overwritten(finished, listing):
    config, path = finished
    before = listing(path)
    refused(lambda: run(config, path), str(path), "finished run", "--overwrite")
    assert listing(path) == before


def test_resuming_a_finished_run_changes_nothing(finished, listing):
    config, path = finished
    before = listing(path)
    assert run(config, path, options=Options(resume=True)) == RunFolder(path).record()
    assert listing(path) == before


def test_overwriting_starts_again(finished, study):
    config, path = finished
    other = config.model_copy(update={"seed": 1})
    record = run(other, path, options=Options(overwrite=True))
    assert record["seed"] == 1
    assert RunFolder(path).config() == other


def test_an_unfinished_run_wants_to_be_resumed(unfinished, listing):
    config, path = unfinished
    before = listing(path)
    assert not RunFolder(path).finished
    refused(lambda: run(config, path), str(path), "unfinished run", "--resume")
    assert listing(path) == before


def test_an_unfinished_run_resumes_or_starts_again_to_the_same_end(unfinished, tmp_path):
    config, path = unfinished
    whole = run(config, tmp_path / "whole")
    assert (path / "checkpoints" / "state.safetensors").exists()
    resumed = run(config, path, options=Options(resume=True))
    for key in ("scores", "weights", "epochs", "steps", "best_epoch"):
        assert resumed[key] == whole[key]
    again = run(config, path, options=Options(overwrite=True))
    assert again["scores"] == whole["scores"]


@pytest.mark.parametrize("options", [Options(), Options(resume=True)], ids=["plain", "resume"])
@pytest.mark.parametrize("state", ["finished", "unfinished"])
def test_another_configuration_is_refused_by_field(request, listing, state, options):
    config, path = request.getfixturevalue(state)
    other = config.model_copy(update={"epochs": 5})
    before = listing(path)
    refused(
        lambda: run(other, path, options=options), "`epochs` is 5 now and was 2 in", "--overwrite"
    )
    assert listing(path) == before


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_of_other_things_is_never_touched(study, tmp_path, listing, resume, overwrite):
    path = tmp_path / "photos"
    (path / "model").mkdir(parents=True)
    (path / "model" / "mine.txt").write_text("dear")
    before = listing(tmp_path)
    reason = "Either" if resume and overwrite else "not a run folder"
    refused(
        lambda: run(load(study.path), path, options=Options(resume=resume, overwrite=overwrite)),
        reason,
    )
    assert listing(tmp_path) == before


def test_a_file_in_the_folders_place_is_refused(study, tmp_path):
    path = tmp_path / "taken"
    path.write_text("mine")
    refused(lambda: run(load(study.path), path), str(path))
    refused(lambda: run(load(study.path), path / "below"), str(path))
    assert path.read_text() == "mine"


def test_an_empty_folder_is_welcome(study, tmp_path):
    (tmp_path / "empty").mkdir()
    assert run(load(study.path), tmp_path / "empty")["name"] == "tiny"


# Damage


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.yaml", b""),
        ("config.yaml", b"name: [half"),
        ("config.yaml", b"\xff\xfe"),
        ("config.yaml", b"name: x\n"),
        ("record.json", b""),
        ("record.json", b'{"scores": {'),
        ("record.json", b"[]"),
        ("record.json", b"{}"),
        ("record.json", b"\xff\xfe"),
        ("record.json", b'{"scores": {}}'),
    ],
)
def test_a_damaged_run_is_refused_in_one_line(finished, name, content):
    _, path = finished
    (path / name).write_bytes(content)
    refused(RunFolder(path).record, str(path))


@pytest.mark.parametrize("content", [b'{"step": 1, "wei', b"\xff\xfe", b"{}\n{", b"3\n", b"{}\n"])
def test_damaged_weights_are_refused_in_one_line(finished, content):
    _, path = finished
    (path / "weights.jsonl").write_bytes(content)
    refused(RunFolder(path).updates, str(path), "weights.jsonl")


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"task\tgold\n",
        b"",
        b"task\tgold\tpredicted\tscore\ngoal\t1\t1\tmany\n",
        b"task\tgold\tpredicted\tscore\ngoal\t1\n",
        b"a\tb\tc\td\ngoal\t1\t1\t1.0\n",
    ],
)
def test_damaged_predictions_are_refused_in_one_line(finished, content):
    _, path = finished
    (path / "predictions.test.tsv").write_bytes(content)
    refused(lambda: RunFolder(path).example_scores("goal"), str(path), "predictions.test.tsv")


def flip(path, *, place):
    content = bytearray(path.read_bytes())
    content[int(len(content) * place)] ^= 4
    path.write_bytes(content)


@pytest.mark.parametrize("place", [0.3, 0.6, 0.9])
def test_a_record_with_a_flipped_bit_is_refused(finished, place):
    _, path = finished
    flip(path / "record.json", place=place)
    refused(RunFolder(path).record, str(path))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("weights.jsonl", lambda folder: folder.updates()),
        ("predictions.test.tsv", lambda folder: folder.example_scores("goal")),
        ("model/model.safetensors", lambda folder: folder.check_model()),
    ],
)
def test_a_result_with_a_flipped_bit_is_refused(finished, name, read):
    _, path = finished
    read(RunFolder(path))
    flip(path / name, place=0.7)
    refused(lambda: read(RunFolder(path)), str(path), name, "checksum")


def test_a_record_of_an_older_version_is_read_without_a_checksum(finished):
    _, path = finished
    whole = RunFolder(path).record()
    unsealed(path)
    assert RunFolder(path).record() == {k: v for k, v in whole.items() if k != "files"}
    assert RunFolder(path).updates()


def test_missing_parts_are_refused_in_one_line(finished):
    _, path = finished
    folder = RunFolder(path)
    (path / "weights.jsonl").unlink()
    (path / "predictions.test.tsv").unlink()
    refused(folder.updates, "weights.jsonl")
    refused(lambda: folder.example_scores("goal"), "predictions.test.tsv")
    (path / "record.json").unlink()
    refused(folder.record, "unfinished", "--resume")
    (path / "config.yaml").unlink()
    refused(folder.record, "not a run folder")
    refused(RunFolder(path / "none").record, "not a run folder")


def test_a_checkpoint_of_other_data_is_refused(unfinished, study):
    """The files behind the configuration changed while the run was stopped."""
    import numpy as np

    config, path = unfinished
    draw = np.random.default_rng(9)
    study.save("far.train", inputs=draw.normal(size=(27, 4)), labels=draw.integers(0, 3, 27))
    with pytest.raises(TawtError, match="far"):
        run(config, path, options=Options(resume=True))


# Whole or not at all


def test_a_write_replaces_and_leaves_nothing_beside(tmp_path):
    path = tmp_path / "deep" / "er" / "note.txt"
    files.write(path, "one")
    files.write(path, b"two \xff")
    assert path.read_bytes() == b"two \xff"
    assert [file.name for file in path.parent.iterdir()] == ["note.txt"]
    assert path.stat().st_mode & 0o777 == 0o644


FULL_DISK = """
import resource, sys
from pathlib import Path
from tawt.errors import RunError
from tawt import files

path = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    files.write(path, b"new" * 1000)
except RunError as error:
    print(error)
    sys.exit(2)
"""


@pytest.mark.parametrize("old", [b"old", None])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, old):
    path = tmp_path / "folder" / "note.txt"
    path.parent.mkdir()
    if old is not None:
        path.write_bytes(old)
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout.count("\n") == 1
    assert str(path) in done.stdout
    assert "File too large" in done.stdout
    assert "intact" in done.stdout
    assert [file.name for file in path.parent.iterdir()] == (["note.txt"] if old else [])
    assert old is None or path.read_bytes() == old


def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refused(lambda: files.write(tmp_path / "pipe", "x"), "pipe", "regular file")
    assert (tmp_path / "pipe").is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    refused(lambda: files.write(tmp_path / "file" / "note.txt", "x"), "file/note.txt")


def test_numbers_that_json_does_not_have_are_written_as_none(tmp_path):
    files.write_json(tmp_path / "x.json", {"a": [float("nan"), 1.0], "b": float("inf")})
    assert files.read_json(tmp_path / "x.json") == {"a": [None, 1.0], "b": None}


def test_a_run_whose_losses_overflow_still_ends_with_a_record(study, tmp_path):
    """Numbers so large that their squares are infinite in float32: every step is skipped."""
    import numpy as np

    draw = np.random.default_rng(0)
    inputs = draw.normal(size=(20, 4))
    for split in ("train", "dev", "test"):
        study.save(f"goal.{split}", inputs=inputs, labels=draw.normal(size=20) * 1e30)
    study.set("data.tasks.goal.kind", "regression").set("training.max_nonfinite", 1000)
    run(load(study.path), tmp_path / "run")
    record = RunFolder(tmp_path / "run").record()
    assert record["metric"] == {"goal": "r2"}
    assert record["skipped_steps"]["goal"] == 2 * 3


# Versions


def test_a_folder_of_another_version_is_said_to_be_one(tmp_path):
    (tmp_path / "config.yaml").write_text("# tawt 0.0.1\ndata: {kind: digits}\ntargets: digit\n")
    with pytest.raises(RunError, match=r"was made by tawt 0\.0\.1, and this is .* \(.*target"):
        RunFolder(tmp_path).config()
    (tmp_path / "config.yaml").write_text("data: {kind: digits}\ntargets: digit\n")
    with pytest.raises(RunError, match="is damaged"):
        RunFolder(tmp_path).config()


def test_a_run_out_of_memory_says_what_to_lower(tmp_path, monkeypatch):
    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(sys.modules["tawt.runs.run"], "train", full)
    values = {"data": {"kind": "digits"}, "target": "digit", "training": {"batch_size": 48}}
    with pytest.raises(TrainingError, match=r"Lower `training.batch_size` \(48\)"):
        run(parsed(values), tmp_path / "run")


def test_the_folders_configuration_is_enough_to_run_again(finished, tmp_path):
    config, path = finished
    again = load(path / "config.yaml")
    assert again == config
    first, _, rest = (path / "config.yaml").read_text().partition("\n")
    assert (first, rest) == (f"# tawt {tawt.__version__}", dumped(again))
    record = run(again, tmp_path / "again")
    assert record["scores"] == RunFolder(path).record()["scores"]
    assert (path / "weights.jsonl").read_bytes() == (
        tmp_path / "again" / "weights.jsonl"
    ).read_bytes()


@pytest.mark.parametrize("content", ["[" * 100_000, "9" * 5000, "{", "\0"], ids=lambda c: c[:1])
def test_json_without_bounds_is_damage_like_any_other(tmp_path, content):
    (tmp_path / "record.json").write_text(content)
    with pytest.raises(RunError, match="not whole JSON"):
        files.read_json(tmp_path / "record.json")


@pytest.mark.parametrize(
    ("parts", "target_from"), [(1, "all"), (None, "all"), (2, "halves in turn")]
)
def test_a_folder_of_before_targets_were_halved_is_read(finished, call, parts, target_from):
    """As commit 9090903 left it: with `target_parts`, and without the fields that came since."""
    config, path = finished
    values = yaml.safe_load((path / "config.yaml").read_text())
    for name in ("target_from", "measure_through", "guard"):
        del values["training"][name]
    values["training"]["target_parts"] = parts
    (path / "config.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    unsealed(path)
    lines = [json.loads(line) for line in (path / "weights.jsonl").read_text().splitlines()]
    for number, line in enumerate(lines):
        line.pop("target_half", None)
        line["target_part"] = number % 2
        WeightUpdate.from_json(line)
    (path / "weights.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    kept = RunFolder(path).config().training
    assert kept.target_from == target_from
    assert (kept.measure_through, kept.guard) == ("trained heads", False)
    assert call("report", path)[0] == 0
    assert call("train", path / "config.yaml", "--out", path, "--resume", "--quiet")[0] == 0
    refused(lambda: run(config, path, options=Options(resume=True)), "another configuration")


@pytest.mark.parametrize("parts", [0, -1, "2", True, 1.5])
def test_what_is_no_number_of_parts_is_a_field_that_there_is_not(parts):
    base = {"data": {"kind": "digits"}, "target": "digit"}
    with pytest.raises(ConfigError, match=r"no field `training\.target_parts`"):
        parsed({**base, "training": {"target_parts": parts}})


def test_a_person_who_named_parts_gets_halves_and_all_else_as_it_is_now():
    base = {"data": {"kind": "digits"}, "target": "digit"}
    assert parsed({**base, "training": {"target_parts": 4}}) == parsed(base)
    found = parsed({**base, "training": {"target_parts": 1}}).training
    assert (found.target_from, found.guard) == ("all", True)
