"""In a real process group: one task on all processes, their own examples, one configuration."""

import itertools
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch.distributed as dist

from tawt import Mixture, MixtureSampler

SCRIPT = """
import itertools
import json
import sys

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.utils.data import DataLoader

from tawt import Mixture, MixtureSampler, TargetAware
from tawt.errors import TrainingError

accelerator = Accelerator(cpu=True)  # makes the process group
rank, count = dist.get_rank(), dist.get_world_size()
data = {"a": list(range(13)), "b": list(range(100, 140)), "c": list(range(1000, 1006))}
weights = TargetAware(sources=["a", "b"], target="c", target_share=0.2)
mixture = Mixture(data, weights, batch_size=4, seed=1, steps=30)
found = {"steps": [], "fresh": []}
for task, batch in mixture:
    found["steps"].append([task, batch.tolist()])
    loss, examples = mixture.fresh(lambda task, batch: batch.double().mean())(task)
    found["fresh"].append([float(loss) * examples, examples])
found["state"] = mixture.state_dict()

sizes = {name: len(part) for name, part in data.items()}
sampler = MixtureSampler(sizes, weights, batch_size=4, seed=1, steps=30)
loader = DataLoader(range(sum(sizes.values())), batch_sampler=sampler, collate_fn=torch.tensor)
prepared = accelerator.prepare(loader)
found["length"] = len(prepared)
found["prepared"] = [batch.tolist() for batch in prepared]

found["refused"] = []
differing = [{"seed": rank}, {"batch_size": 1 + rank}, {"floor": 0.1 * rank}, {"hold": 1 + rank}]
for settings in differing:
    try:
        next(iter(Mixture(data, weights, **{"batch_size": 2, **settings})))
    except TrainingError as error:
        found["refused"].append(str(error))
try:
    moved = {"a": 1.0 + rank, "b": 1.0, "c": 1.0}
    next(iter(MixtureSampler(sizes, moved, batch_size=2)))
except TrainingError as error:
    found["refused"].append(str(error))

with open(sys.argv[1], "w") as out:
    json.dump(found, out)
dist.barrier()
dist.destroy_process_group()
"""

DATA = {"a": list(range(13)), "b": list(range(100, 140)), "c": list(range(1000, 1006))}
WEIGHTS = {"a": 0.4, "b": 0.4, "c": 0.2}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """What each of two processes found."""
    folder = tmp_path_factory.mktemp("group")
    (folder / "script.py").write_text(SCRIPT)
    shared = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2] / "src")]),
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "ACCELERATE_USE_CPU": "true",
    }
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", folder / "script.py", folder / f"{rank}.json"],
            env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(2)
    ]
    assert [process.wait(timeout=180) for process in running] == [0, 0]
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


def test_processes_draw_one_task_and_together_what_one_would(both):
    one = Mixture(DATA, WEIGHTS, batch_size=8, seed=1, steps=30)
    for step, (task, batch) in enumerate(one):
        assert [found["steps"][step][0] for found in both] == [task, task]
        assert [n for found in both for n in found["steps"][step][1]] == batch.tolist()
        _, examples = one.fresh(lambda task, batch: batch).batch(task)
        assert sum(found["fresh"][step][1] for found in both) == examples
    assert both[0]["state"] == both[1]["state"] == one.state_dict()


def test_accelerate_hands_out_one_task_to_all(both):
    sizes = {name: len(part) for name, part in DATA.items()}
    one = list(MixtureSampler(sizes, WEIGHTS, batch_size=8, seed=1, steps=30))
    assert [found["length"] for found in both] == [30, 30]
    parts = zip(both[0]["prepared"], both[1]["prepared"], strict=True)
    assert [list(itertools.chain(*step)) for step in parts] == one


def test_processes_with_different_configurations_are_refused(both):
    assert both[0]["refused"] == both[1]["refused"]
    first, second, third, fourth, fifth = both[0]["refused"]
    assert "`seed` is 0 on process 0 and 1 on process 1" in first
    assert "`batch_size` is" in second
    assert "`floor` is 0.0 on process 0 and 0.1 on process 1" in third
    assert "`hold` is 1 on process 0 and 2 on process 1" in fourth
    assert "`weights` is" in fifth
    assert not any("\n" in message for message in both[0]["refused"])


def test_a_group_of_one_is_like_none(tmp_path):
    alone = [(task, batch.tolist()) for task, batch in Mixture(DATA, WEIGHTS, batch_size=4)]
    dist.init_process_group(
        "gloo", store=dist.FileStore(str(tmp_path / "s"), 1), rank=0, world_size=1
    )
    try:
        grouped = Mixture(DATA, WEIGHTS, batch_size=4)
        assert [(task, batch.tolist()) for task, batch in grouped] == alone
        loss = grouped.fresh(lambda task, batch: batch.double().mean())("a")
        assert loss.dim() == 0  # no pair: nothing is reduced
    finally:
        dist.destroy_process_group()
