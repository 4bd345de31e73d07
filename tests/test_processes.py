"""Runs in a group of two processes: what each is told, and what is left in the folder."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tawt.config import load
from tawt.errors import Interrupted
from tawt.runs import Options, RunFolder, run
from tawt.training.checkpoints import read

# Every process tells what it saw, case by case.
PROGRAM = """
import json, os, sys, time
from pathlib import Path

import torch

import tawt.training.judging
from tawt.config import load
from tawt.errors import DataError, TawtError
from tawt.runs import Options, run
from tawt.training.devices import accelerator_for
from tawt.training.joining import is_joined, join_group, leave_group
from tawt.training.processes import TrainingProcesses

rank, here = int(os.environ["RANK"]), Path(sys.argv[1])
seen = {}
config = load(here / "study/study.yaml")


def stop_after(steps):
    left = iter(range(steps))
    return lambda: next(left, None) is None


def attempt(name, config=config, folder=None, **named):
    options = Options(device="cpu", **named.pop("options", {}))
    try:
        seen[name] = run(config, here / (folder or name), options=options, **named)
    except TawtError as error:
        seen[name] = f"{type(error).__name__}: {error}"


join_group("cpu")

progress, told = [], []
attempt("whole", on_progress=progress.append, on_tasks=told.append)
seen["told"] = [len(progress), len(told)]
attempt("refused", folder="whole")
attempt("finished", folder="whole", options={"resume": True})

# The second is asked to stop, and the first saves; what is left goes on here, and alone.
for name in ("stopped", "for one"):
    attempt(name, should_stop=stop_after(6) if rank == 1 else None)
attempt("resumed", folder="stopped", options={"resume": True})

# One process cannot build what it needs.
running = sys.modules["tawt.runs.run"]
build = running.build_parts
def unbuildable(*given, **named):
    raise DataError("the disk of this machine is empty", place=("data",))
if rank == 1:
    running.build_parts = unbuildable
attempt("unbuilt")
running.build_parts = build

attempt("unlike", config=config.model_copy(update={"seed": rank}))

# They score alike but for rounding, by which one would go on and the other not.
score = tawt.training.judging.combined_score
scores = iter([0.1 * epoch for epoch in range(100)])
if rank == 1:
    tawt.training.judging.combined_score = lambda *_: next(scores)
else:
    tawt.training.judging.combined_score = lambda *_: 0.5
training = tawt.training.Settings(**{**config.training.__dict__, "patience": 1})
patient = config.model_copy(update={"training": training, "target_epochs": 9, "epochs": 9})
attempt("patient", config=patient)
tawt.training.judging.combined_score = score

# Heads are fitted by each for itself.
split = {"paradigm": "pre-training", "split_target": True}
attempt("split", config=config.model_copy(update=split))

processes = TrainingProcesses.of(accelerator_for("fp32", device="cpu"))
seen["mean"] = processes.mean(torch.tensor([1.0 + rank])).tolist()
seen["largest"] = processes.largest(torch.tensor([5 * rank, 3 - rank])).tolist()
own = torch.full((2,), float(rank))
processes.adopt_first([own])
seen["adopted"] = own.tolist()
class Odd(DataError):
    def __init__(self, one, two):
        super().__init__(one + two)
def odd():
    raise Odd("can", "not")
try:
    processes.first_does(odd)
except TawtError as error:
    seen["odd"] = str(error)

if rank == 0:
    time.sleep(1)
seen["joined"] = is_joined()
Path(here, f"{rank}.json").write_text(json.dumps(seen))
leave_group()
os._exit(0)
"""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def ended(program, *arguments):
    """Two processes of a program, once they ended well."""
    port = str(free_port())
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", program, *arguments],
            env={
                **os.environ,
                "PYTHONPATH": str(Path(__file__).parents[1] / "src"),
                "OMP_NUM_THREADS": "1",
                "CUDA_VISIBLE_DEVICES": "",
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": "2",
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": port,
            },
        )
        for rank in range(2)
    ]
    try:
        return [process.wait(timeout=180) for process in running]
    finally:
        for process in running:
            process.kill()


def results(folder):
    """What a run came to, without what differs from run to run."""
    record = RunFolder(folder).record()
    updates = RunFolder(folder).updates()
    names = ("scores", "weights", "epochs", "steps", "best_epoch", "files")
    return {name: record[name] for name in names} | {"updates": updates}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The folder, and what each of the two processes saw there."""
    from tests.conftest import Study

    folder = tmp_path_factory.mktemp("together")
    study = Study(folder / "study")
    study.set("target_epochs", 3)
    program = folder / "program.py"
    program.write_text(PROGRAM)
    assert ended(program, folder) == [0, 0]
    return folder, *(json.loads((folder / f"{rank}.json").read_text()) for rank in range(2))


def test_all_return_the_record_that_the_first_left(told):
    folder, first, second = told
    assert first["whole"] == second["whole"] == RunFolder(folder / "whole").record()
    assert first["told"] == [first["whole"]["steps"], 1]
    assert second["told"] == [0, 0]
    assert first["finished"] == second["finished"] == first["whole"]
    assert first["joined"] is second["joined"] is True


def test_all_are_refused_alike(told):
    folder, first, second = told
    assert first["refused"].startswith(f"RunError: {folder / 'whole'} holds a finished run")
    assert first["unbuilt"] == "DataError: the disk of this machine is empty"
    assert "must have the same configuration and data; process 1 has another" in first["unlike"]
    assert first["odd"] == "cannot"
    for name in ("refused", "unbuilt", "unlike", "odd"):
        assert first[name] == second[name]
    assert not (folder / "unbuilt").exists()
    assert not (folder / "unlike").exists()


def test_a_request_to_one_stops_all_and_a_resumed_run_ends_as_if_never_stopped(told):
    """Dropout is on: each process goes on with a random stream of its own."""
    folder, first, second = told
    assert first["stopped"].startswith("Interrupted: Stopped as asked")
    assert second["stopped"] == first["stopped"]
    assert results(folder / "stopped") == results(folder / "whole")


def test_a_checkpoint_of_two_is_one_for_one_process(told):
    folder, *_ = told
    [path] = (folder / "for one/checkpoints").glob("state.*")
    from tawt.runs.building import build_parts
    from tawt.runs.checkpoints import run_key

    config = load(folder / "study/study.yaml")
    saved = read(path, run=run_key(config, build_parts(config).data))
    one, two = (stream["cpu"] for stream in saved["random"])
    assert not one.equal(two)
    record = run(config, folder / "for one", options=Options(resume=True, device="cpu"))
    assert record["steps"] == RunFolder(folder / "whole").record()["steps"]


def test_a_checkpoint_of_one_is_one_for_two_processes(told, tmp_path):
    folder, *_ = told
    program = tmp_path / "program.py"
    program.write_text(
        "import os\nimport sys\nfrom pathlib import Path\nfrom tawt.config import load\n"
        "from tawt.runs import Options, run\nfrom tawt.training.joining import leave_group\n"
        "study, out = map(Path, sys.argv[1:])\n"
        "run(load(study), out, options=Options(device='cpu', resume=True))\nleave_group()\n"
        "os._exit(0)\n"
    )
    study = folder / "study/study.yaml"
    left = iter(range(6))
    with pytest.raises(Interrupted):
        run(load(study), tmp_path / "out", should_stop=lambda: next(left, None) is None)
    assert ended(program, study, tmp_path / "out") == [0, 0]
    record = RunFolder(tmp_path / "out").record()
    assert record["steps"] == RunFolder(folder / "whole").record()["steps"]
    assert record["machine"]["processes"] == 2


def test_all_stop_early_when_the_first_does(told):
    _, first, second = told
    assert first["patient"] == second["patient"]
    assert len(first["patient"]["epochs"]) == 2


def test_heads_that_each_fits_for_itself_are_the_first_ones(told):
    _, first, second = told
    assert first["split"] == second["split"]
    assert first["split"]["epochs"][-1]["phase"] == "final head"


def test_what_processes_make_of_what_each_has(told):
    for seen in told[1:]:
        assert (seen["mean"], seen["largest"], seen["adopted"]) == ([1.5], [5, 3], [0.0, 0.0])
