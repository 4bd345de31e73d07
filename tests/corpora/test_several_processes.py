"""Language models that several processes train together end as one process trains them."""

import pytest
import torch
from safetensors.torch import load_file

from tawt.config import load
from tawt.runs import RunFolder, run
from tests.corpora.studies import CorpusStudy
from tests.test_launched_runs import ACCELERATE, PYTHON, ended, launched, started_together

# The command line, and what all parameters add up to in each process when training has ended.
SUMMED = """
import hashlib, os
import importlib
module = importlib.import_module("tawt.runs.run")
before = module.train
def train(model, **how):
    found = before(model, **how)
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(name.encode() + value.detach().cpu().contiguous().numpy().tobytes())
    with open(os.environ["SUMS"] + os.environ["RANK"], "w") as file:
        file.write(digest.hexdigest())
    return found
module.train = train
from tawt.cli import main
main()
"""

WAYS = {
    "causal": {"training.most_passes": 4},
    "from training steps": {"training.measure": "training steps"},
    "masked": {"model.objective": "masked"},
}


def assert_alike(one, two):
    """Two finished runs came to the same, to 1e-5."""
    ours, theirs = RunFolder(one).record(), RunFolder(two).record()
    for split, scores in ours["scores"]["goal"].items():
        assert theirs["scores"]["goal"][split] == pytest.approx(scores, rel=1e-5, abs=1e-5)
    assert theirs["weights"] == pytest.approx(ours["weights"], rel=1e-5, abs=1e-5)
    first, second = (load_file(path / "model/model.safetensors") for path in (one, two))
    for name, value in first.items():
        torch.testing.assert_close(second[name], value, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("way", WAYS)
def test_two_processes_end_with_the_same_weights_as_each_other_and_as_one(tmp_path, way):
    study = CorpusStudy(tmp_path / "study")
    study.set("training.learning_rate", 0.002)
    for name, value in WAYS[way].items():
        study.set(name, value)
    run(load(study.path), tmp_path / "one")
    script = tmp_path / "summed.py"
    script.write_text(SUMMED)
    command = [*PYTHON, script, "train", study.path, "--out", tmp_path / "two", "--device", "cpu"]
    statuses, out, err = ended(started_together(command, SUMS=f"{tmp_path}/sum-"))
    assert statuses == [0, 0], err
    assert "error: " not in err
    assert out.count("Everything is in") == 1
    first, second = ((tmp_path / f"sum-{rank}").read_text() for rank in (0, 1))
    assert first == second
    if way == "masked":
        # What is masked depends on the whole batch, of which each process has a part of its own.
        ours, theirs = (RunFolder(tmp_path / name).record() for name in ("one", "two"))
        found, wanted = (each["scores"]["goal"]["test"]["loss"] for each in (theirs, ours))
        assert found == pytest.approx(wanted, rel=0.1)
    else:
        assert_alike(tmp_path / "one", tmp_path / "two")


def test_accelerate_launches_a_run_on_corpora(tmp_path):
    study = CorpusStudy(tmp_path / "study")
    study.set("training.learning_rate", 0.002)
    run(load(study.path), tmp_path / "one")
    done = launched(ACCELERATE, "-m", "tawt", "train", study.path, "--out", tmp_path / "two")
    assert done.returncode == 0, done.stderr
    assert RunFolder(tmp_path / "two").record()["machine"]["processes"] == 2
    assert_alike(tmp_path / "one", tmp_path / "two")
