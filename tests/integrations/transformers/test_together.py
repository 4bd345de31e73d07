"""Two processes on a CPU train as one with twice the batch size."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def ran(folder, processes, *arguments):
    """What each process found."""
    folder.mkdir()
    shared = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONPATH": os.pathsep.join([str(HERE.parents[2]), *sys.path]),
    }
    if processes > 1:
        shared |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        shared |= {"WORLD_SIZE": str(processes), "LOCAL_WORLD_SIZE": str(processes)}
    running = []
    for rank in range(processes):
        own = {"RANK": str(rank), "LOCAL_RANK": str(rank)} if processes > 1 else {}
        command = [sys.executable, "-W", "ignore", HERE / "together.py", folder, *arguments]
        running.append(
            subprocess.Popen(
                [str(word) for word in command],
                env={**shared, **own},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    try:
        said = [process.communicate(timeout=150)[0] for process in running]
    finally:
        for process in running:
            process.kill()
    for process, text in zip(running, said, strict=True):
        assert process.returncode == 0, text[-4000:]
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(processes)]


def close(one, other):
    for values, others in zip(one["parameters"], other["parameters"], strict=True):
        assert values == pytest.approx(others, abs=1e-6)
    for entry, same in zip(one["log"], other["log"], strict=True):
        assert entry == pytest.approx(same, rel=1e-5, abs=1e-6)


def test_two_processes_train_as_one(tmp_path):
    """Texts differ in length, batches are accumulated; a resume with one of them goes on alike."""
    first, second = ran(tmp_path / "two", 2, 2, 2, 8)
    assert (first["processes"], first["model"]) == (2, "DistributedDataParallel")
    assert first["state"] == second["state"]
    assert first["parameters"] == second["parameters"]
    assert len(first["state"]["history"]) == 4
    assert "`update_every` is 1 on process 0 and 2 on process 1" in first["refused"]
    assert first["refused"] == second["refused"]
    [alone] = ran(tmp_path / "one", 1, 4, 2, 8)
    close(first, alone)
    assert first["by steps"]["state"] == second["by steps"]["state"]
    assert first["by steps"]["state"] != first["state"]
    close(first["by steps"], alone["by steps"])
    [resumed] = ran(tmp_path / "resumed", 1, 4, 2, 8, tmp_path / "two" / "checkpoint-4")
    assert resumed["state"]["history"][:2] == first["state"]["history"][:2]
    close(first, resumed)
