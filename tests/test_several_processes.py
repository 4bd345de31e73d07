"""Training on two processes takes the steps of training on one."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

SCRIPT = """
import os
import sys

import torch

from tawt.arrays import Classification
from tawt.tasks import MultiTaskModel, Task
from tawt.training import JointTraining, Settings, train
from tawt.units import Units
from tawt.weighting import TargetAware
from tests.test_parts import Moments, Sums


kind = Classification(("no", "yes"))
goal = Task("goal", kind, Sums(41), test=Sums(20, seed=2))  # the last batch has one example
tasks = [Task("source", kind, Sums(70, seed=1)), goal]
torch.manual_seed(0)
model = MultiTaskModel.for_tasks(Moments(), tasks, width=3)
units = Units.of_examples({"source": 70}) if "UNIT" == "example" else None
weighting = TargetAware(sources=["source"], target="goal", target_share="learned", units=units)
result = train(
    model,
    tasks=tasks,
    target="goal",
    paradigm=JointTraining(epochs=2),
    weighting=weighting,
    settings=Settings(batch_size=8, learning_rate=0.03, accumulation=ACCUMULATION, update_every=4),
)
logs = weighting.weights.logs
torch.save({"model": model.state_dict(), "weights": result.weights, "logs": logs}, sys.argv[1])
"""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def started(script, out, *, rank, processes, port):
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    if processes > 1:
        environment |= {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(processes),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "ACCELERATE_USE_CPU": "true",
        }
    return subprocess.Popen([sys.executable, "-W", "ignore", script, out], env=environment)


@pytest.mark.parametrize(("accumulation", "unit"), [(1, "task"), (2, "task"), (1, "example")])
def test_two_processes_take_the_steps_of_one(tmp_path, accumulation, unit):
    """Parts differ between them in number, and steps in scale; each measures its own examples."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("ACCUMULATION", str(accumulation)).replace("UNIT", unit))
    port = free_port()
    outs = {name: tmp_path / f"{name}.pt" for name in ("one", "first", "second")}
    running = [
        started(script, outs["one"], rank=0, processes=1, port=port),
        started(script, outs["first"], rank=0, processes=2, port=port),
        started(script, outs["second"], rank=1, processes=2, port=port),
    ]
    assert [process.wait(timeout=180) for process in running] == [0, 0, 0]
    one, first, second = (torch.load(path, weights_only=True) for path in outs.values())
    for name, value in first["model"].items():
        assert torch.equal(value, second["model"][name])
        torch.testing.assert_close(value, one["model"][name], rtol=1e-4, atol=1e-5)
    assert first["weights"] == pytest.approx(one["weights"], rel=1e-4)
    assert first["weights"] == second["weights"]
    assert torch.equal(first["logs"], second["logs"])
    torch.testing.assert_close(first["logs"], one["logs"], rtol=1e-3, atol=1e-3)
    if unit == "example":
        assert len(first["logs"]) == 71
        assert float(first["logs"][:70].std()) > 0.01  # they have moved apart
