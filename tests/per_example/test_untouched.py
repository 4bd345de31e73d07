"""Measuring leaves no trace, whatever happens during it."""

import random

import numpy as np
import pytest
import torch

from tawt.per_example import ExampleNorms, ExampleProducts
from tests.per_example.cases import Case, cnn, mlp, recurrent, tied

WAYS = ["forward", "mixed", "differences", "ghost", "each"]


def measure(case: Case, way, losses):
    if way in ("forward", "mixed", "differences"):
        return ExampleProducts(case.module, case.parameters, case.direction(), way=way)(losses)
    way = "auto" if way == "ghost" else way
    return ExampleNorms(case.module, case.parameters, way=way)(losses)


def state(case):
    """All that could have been touched, and the very objects that hold it."""
    module = case.module
    return {
        "parameters": [(id(p), p.detach().clone(), p.requires_grad) for p in module.parameters()],
        "grads": [p.grad if p.grad is None else p.grad.clone() for p in module.parameters()],
        "buffers": [(id(b), b.clone()) for b in module.buffers()],
        "modes": [part.training for part in module.modules()],
        "hooks": [
            (len(part._forward_hooks), len(part._forward_pre_hooks)) for part in module.modules()
        ],
        "torch": torch.get_rng_state(),
        "numpy": np.random.get_state()[1],  # noqa: NPY002
        "python": random.getstate(),
        "flags": (
            torch.is_grad_enabled(),
            torch.is_autocast_enabled("cpu"),
            torch.get_autocast_dtype("cpu"),
            torch.backends.mha.get_fastpath_enabled(),
            torch.backends.cuda.flash_sdp_enabled(),
            torch.backends.cudnn.conv.fp32_precision,
            torch.backends.mkldnn.matmul.fp32_precision,
        ),
    }


def same(left, right):
    if isinstance(left, torch.Tensor):
        return torch.equal(left, right)
    if isinstance(left, np.ndarray):
        return np.array_equal(left, right)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def assert_untouched(before, after):
    assert [name for name in before if not same(before[name], after[name])] == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [mlp, cnn, tied, recurrent])
def test_the_model_and_the_world_are_as_they_were(make, way):
    case = make()
    case.module.head.train(mode=False)
    case.losses().sum().backward()
    before = state(case)
    measure(case, way, case.losses)
    assert_untouched(before, state(case))
    case.losses()  # and it still runs


@pytest.mark.parametrize("way", WAYS)
def test_so_they_are_after_an_error(way):
    case = cnn()
    before = state(case)

    def failing():
        case.losses()
        torch.rand(3)
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        measure(case, way, failing)
    assert_untouched(before, state(case))


@pytest.mark.parametrize("way", WAYS)
def test_dropout_is_off_whatever_the_mode(way):
    case = mlp()
    case.module.train()
    training = measure(case, way, case.losses)
    case.module.eval()
    torch.testing.assert_close(measure(case, way, case.losses), training)


def test_parameters_are_never_written():
    """Not even for the length of a pass: another thread, or a graph, may hold them."""
    case = mlp()
    versions = [p._version for p in case.parameters]
    losses = case.losses()
    for way in WAYS:
        measure(case, way, case.losses)
    assert [p._version for p in case.parameters] == versions
    losses.sum().backward()  # a graph made before is not spoilt
