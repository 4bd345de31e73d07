"""Updates of several processes, on a CPU: each case is a program, started once a process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from tawt import TargetAware
from tawt.errors import TrainingError
from tawt.ranks import Buckets, Ranks

HERE = Path(__file__).parent


def started(program, rank, processes, store):
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONPATH": os.pathsep.join([str(HERE.parents[1] / "src"), *sys.path]),
    }
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", HERE / program, str(rank), str(processes), store],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize("processes", [2, 4])
@pytest.mark.parametrize("program", ["together.py", "sharded.py"])
def test_an_update_of_several_processes(program, processes, tmp_path):
    """Each check in the program holds in every process."""
    store = tmp_path / "store"
    running = [started(program, rank, processes, store) for rank in range(processes)]
    try:
        said = [process.communicate(timeout=150)[0] for process in running]
    finally:
        for process in running:
            process.kill()
    for rank, text in enumerate(said):
        assert running[rank].returncode == 0, f"process {rank}:\n{text[-4000:]}"
        assert text.splitlines()[-1] == "done"


@pytest.fixture
def group_of_one(tmp_path):
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1
    )
    yield
    torch.distributed.destroy_process_group()


def updated():
    torch.manual_seed(0)
    encoder, heads = nn.Linear(3, 5), nn.ModuleDict({name: nn.Linear(5, 1) for name in "abc"})
    inputs = torch.randn(8, 3)
    weights = TargetAware(sources=["a", "b"], target="c", target_share=0.4)
    for _ in range(2):
        weights.update(encoder, loss_of=lambda task: heads[task](encoder(inputs)).sin().mean())
    return weights


ALONE = updated()


@pytest.mark.usefixtures("group_of_one")
def test_a_group_of_one_is_no_group():
    weights = updated()
    assert torch.equal(weights.weights.logs, ALONE.weights.logs)
    assert weights.history == ALONE.history


def test_numbers_of_examples_make_no_difference_alone():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    ways = {"a": [1.0, 0.0], "b": [0.5, 1.0], "c": [1.0, 0.1]}
    found = []
    for count in (None, 7, torch.tensor(7), 0.5):
        weights = TargetAware(sources=["a", "b"], target="c", target_share=None)

        def loss_of(task, count=count):
            loss = x @ torch.tensor(ways[task])
            return loss if count is None else (loss, count)

        weights.update([x], loss_of=loss_of)
        found.append(weights.weights.logs)
    assert all(torch.equal(logs, found[0]) for logs in found)


@pytest.mark.parametrize("count", [-1, float("nan"), "7", None, True])
def test_what_is_no_number_of_examples_is_refused(count):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    weights = TargetAware(sources=["a"], target="c", target_share=None)
    with pytest.raises(TrainingError, match="the number of examples it is the mean of"):
        weights.update([x], loss_of=lambda task: (x.sum(), count))


def test_no_example_at_all_is_refused():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    weights = TargetAware(sources=["a"], target="c", target_share=None)
    with pytest.raises(TrainingError, match="0 examples"):
        weights.update([x], loss_of=lambda task: (x.sum() * 0, 0))


def test_alone_nothing_is_exchanged():
    alone = Ranks.of(None)
    assert not alone.several
    with pytest.raises(ZeroDivisionError):
        alone.attempt(lambda: 1 / 0, 0)


def test_a_group_without_torch_distributed_is_refused():
    with pytest.raises(TrainingError, match="not initialised"):
        Ranks.of(object())


class Two(Ranks):
    """Two processes that have the same: what is added up is doubled."""

    def __init__(self, rank=0):
        super().__init__(None, size=2, rank=rank)
        self.largest = 0

    def device_for(self, device):
        return device

    def add_up(self, tensor):
        self.largest = max(self.largest, tensor.numel() * tensor.itemsize)
        return tensor * 2


@pytest.mark.parametrize("size", [1, 40, 1 << 20])
def test_gradients_travel_in_stretches_of_bounded_size(size):
    """Long parameters are cut, short ones travel together, and nothing is lost on the way."""
    draw = torch.Generator().manual_seed(0)
    shapes = [(3, 5), (), (7,), (0, 4), (2, 2)]
    dtypes = [torch.float32, torch.float64, torch.bfloat16, torch.float32, torch.float64]
    parameters = [
        torch.randn(shape, generator=draw).to(dtype)
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    gradient = [parameter.clone() for parameter in parameters]
    gradient[1] = None
    two = Two()
    buckets = Buckets(parameters, two, size=size)
    mean = buckets.mean(list(gradient), 3.0)
    for entry, parameter in zip(mean, gradient, strict=True):
        if parameter is None:
            assert not entry.any()
        else:
            torch.testing.assert_close(entry, parameter.to(entry.dtype))
    assert two.largest <= max(size, 8) + 8  # and the number of examples
    total = buckets.total([parameter.clone() for parameter in parameters])
    for entry, parameter in zip(total, parameters, strict=True):
        torch.testing.assert_close(entry, 2 * parameter.to(entry.dtype))


def test_one_tensor_for_two_parameters_is_added_up_once_each():
    """Autograd may hand out the same tensor twice, or a view of one number."""
    shared = torch.ones(3)
    parameters = [torch.zeros(3), torch.zeros(3), torch.zeros(2, 2)]
    gradient = [shared, shared, torch.ones(()).expand(2, 2)]
    mean = Buckets(parameters, Two()).mean(gradient, 5.0)
    for entry in mean:
        torch.testing.assert_close(entry, torch.ones_like(entry))


def test_of_no_examples_even_nan_counts_nothing():
    gradient = [torch.full((2,), torch.nan)]
    total = Buckets([torch.zeros(2)], Two())._summed(gradient, 0.0, divided=False)
    assert torch.equal(total[0], torch.zeros(2))
