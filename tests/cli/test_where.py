"""The device is named when runs begin, and only then."""

import pytest
import torch

from tawt.cli import where
from tawt.launch import Launch
from tawt.sweeps import Progress, Sweep


@pytest.fixture
def h200(monkeypatch):
    """As if there were two such GPUs."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H200")


def test_a_cpu_is_named_with_its_threads(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert where.run_place(torch.device("cpu")) == "Training on cpu (2 threads)."


@pytest.mark.usefixtures("h200")
def test_a_gpu_is_named_by_its_maker():
    assert where.run_place(torch.device("cuda")) == "Training on NVIDIA H200."
    assert where.sweep_place(Sweep(), "auto") == "Training on NVIDIA H200, 1 run at a time."
    two = Sweep(workers=2, gpus=["0", "1"])
    assert where.sweep_place(two, "auto") == "Training on 2 GPUs (NVIDIA H200), 2 runs at a time."
    assert where.sweep_place(Sweep(workers=2), "cpu").startswith("Training on cpu (1 thread), 2 ")


def test_processes_that_train_together_are_counted(monkeypatch):
    monkeypatch.setattr(where, "this_launch", lambda: Launch(2, 0, 2, 0))
    assert where.run_place(torch.device("cpu")).endswith(", in 2 processes.")


def test_runs_are_announced_once_and_before_the_first(capsys):
    told = []
    sweep = where.announced(Sweep(on_progress=told.append), "cpu", quiet=False)
    for done in range(3):
        sweep.on_progress(Progress(done, 2, 0))
    assert capsys.readouterr() == ("", "Training on cpu (1 thread), 1 run at a time.\n")
    assert [now.done for now in told] == [0, 1, 2]


@pytest.mark.parametrize(("done", "quiet"), [(2, False), (0, True)])
def test_nothing_is_announced_where_nothing_is_made_or_said(capsys, done, quiet):
    sweep = where.announced(Sweep(), "cpu", quiet=quiet)
    sweep.on_progress(Progress(done, 2, done))
    assert capsys.readouterr() == ("", "")
