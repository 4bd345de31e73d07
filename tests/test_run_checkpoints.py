"""The checkpoints in a run folder: two are kept, and only the run's own whole ones are used."""

import json
import logging
import shutil

import pytest
import torch
from safetensors.torch import save

from tawt.config import load
from tawt.errors import Interrupted, RunError
from tawt.runs import Options, RunFolder, run
from tawt.runs.checkpoints import FolderCheckpoint, run_key
from tawt.training import checkpoints

NAMES = ("state.safetensors", "previous.safetensors")
ENDS = ("scores", "weights", "epochs", "steps", "best_epoch")


@pytest.fixture
def kept(tmp_path):
    return FolderCheckpoint(RunFolder(tmp_path), run="mine", seconds=0)


def state(number):
    return {"model": torch.full((3,), number), "weighting": {"history": [{"step": number}]}}


def stopped(study, path, *, after=7):
    """A run that was interrupted after so many steps, with a checkpoint at each."""
    config, steps = load(study.path), iter(range(1, 10_000))
    with pytest.raises(Interrupted):
        run(
            config,
            path,
            options=Options(checkpoint_seconds=0),
            should_stop=lambda: next(steps) == after,
        )
    return config


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_checkpoints_are_due_by_time(tmp_path):
    folder = RunFolder(tmp_path)
    assert FolderCheckpoint(folder, run="", seconds=0).due()
    assert not FolderCheckpoint(folder, run="", seconds=1e6).due()
    assert FolderCheckpoint(folder, run="", seconds=0).load() is None


def test_a_checkpoint_keeps_state_and_history(kept, tmp_path):
    kept.save(state(1))
    back = kept.load()
    assert back["model"].tolist() == [1, 1, 1]
    assert back["weighting"]["history"] == [{"step": 1}]
    assert json.loads((tmp_path / "weights.jsonl").read_text()) == {"step": 1}


def test_the_last_two_are_kept(kept, tmp_path):
    for number in (1, 2, 3):
        kept.save(state(number))
    found = [checkpoints.read(tmp_path / "checkpoints" / name, run="mine") for name in NAMES]
    assert [each["model"][0].item() for each in found] == [3, 2]
    assert len(list((tmp_path / "checkpoints").iterdir())) == 2


@pytest.mark.parametrize("lost", ["damaged", "missing", "of another run"])
def test_without_the_last_the_one_before_is_used(kept, tmp_path, lost, caplog):
    kept.save(state(1))
    kept.save(state(2))
    last = tmp_path / "checkpoints" / NAMES[0]
    if lost == "damaged":
        damage(last)
    elif lost == "missing":  # killed between two renames
        last.unlink()
    else:
        last.write_bytes(checkpoints.to_bytes(state(9), run="theirs"))
    again = FolderCheckpoint(RunFolder(tmp_path), run="mine", seconds=0)
    with caplog.at_level(logging.WARNING):
        assert again.load()["model"][0].item() == 1
    assert ("previous.safetensors" in caplog.text) == (lost != "missing")
    again.save(state(3))  # what is damaged does not take the place of what is whole
    found = [checkpoints.read(tmp_path / "checkpoints" / name, run="mine") for name in NAMES]
    assert [each["model"][0].item() for each in found] == [3, 1]


def test_with_both_damaged_nothing_is_guessed(kept, tmp_path):
    kept.save(state(1))
    kept.save(state(2))
    for name in NAMES:
        damage(tmp_path / "checkpoints" / name)
    with pytest.raises(RunError, match=r"state.*damaged.*previous.*damaged.*--overwrite") as error:
        kept.load()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"hello", checkpoints.to_bytes({"step": 3}, run="x")])
def test_a_run_with_no_usable_checkpoint_is_refused_untouched(study, tmp_path, listing, content):
    path = tmp_path / "run"
    config = stopped(study, path)
    for name in NAMES:
        (path / "checkpoints" / name).write_bytes(content)
    before = listing(path)
    with pytest.raises(RunError, match=r"state\.safetensors"):
        run(config, path, options=Options(resume=True))
    assert listing(path) == before


def test_a_run_of_an_earlier_version_is_said_to_be_one(study, tmp_path, listing):
    path = tmp_path / "run"
    config = stopped(study, path)
    earlier = save({"a": torch.arange(3)}, metadata={"tawt checkpoint 2": '{"run": "x"}'})
    for name in NAMES:
        (path / "checkpoints" / name).write_bytes(earlier)
    before = listing(path)
    with pytest.raises(RunError) as refused:
        run(config, path, options=Options(resume=True))
    assert str(refused.value) == (
        f"{path / 'checkpoints' / NAMES[0]} was written by an earlier version of tawt, which this "
        "one cannot go on from; use --overwrite to start the run again."
    )
    assert listing(path) == before


def test_a_run_with_a_damaged_checkpoint_ends_with_the_same_numbers(study, tmp_path, caplog):
    path = tmp_path / "run"
    config = stopped(study, path)
    whole = run(config, tmp_path / "whole")
    damage(path / "checkpoints" / NAMES[0])
    resumed = run(config, path, options=Options(resume=True))
    assert "checksum" in caplog.text
    assert {key: resumed[key] for key in ENDS} == {key: whole[key] for key in ENDS}
    for name in ("weights.jsonl", "predictions.test.tsv", "model/model.safetensors"):
        assert (path / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("field", "value"), [("seed", 7), ("training.learning_rate", 0.02), ("target_epochs", 5)]
)
def test_a_checkpoint_copied_from_another_run_is_refused(study, tmp_path, field, value):
    config = stopped(study, tmp_path / "mine")
    study.set(field, value)
    stopped(study, tmp_path / "theirs")
    shutil.rmtree(tmp_path / "mine" / "checkpoints")
    shutil.copytree(tmp_path / "theirs" / "checkpoints", tmp_path / "mine" / "checkpoints")
    with pytest.raises(RunError, match="another configuration or other data"):
        run(config, tmp_path / "mine", options=Options(resume=True))


def test_the_key_of_a_run_follows_its_configuration_and_data(study):
    config, data = load(study.path), {"goal": {"train": {"examples": 20, "sha256": "a"}}}
    key = run_key(config, data)
    assert key == run_key(load(study.path), json.loads(json.dumps(data)))
    assert key != run_key(config.model_copy(update={"seed": 1}), data)
    assert key != run_key(config, {"goal": {"train": {"examples": 20, "sha256": "b"}}})
