"""Clipping a step on one task: its weight stays."""

import pytest
import torch
from torch import nn

from tawt.errors import TrainingError, WeightsError
from tawt.weighting import Fixed


def moved(task, *, clip, max_norm=1.0, share=0.9, size=1000.0):
    """How far a step of plain gradient descent on one task moves, its gradient clipped."""
    weights = Fixed(["a", "b"], initial={"a": share, "b": 1 - share})
    x = torch.zeros(2, requires_grad=True)
    optimiser = torch.optim.SGD([x], lr=1.0)
    losses = {task: size * (x[0] + x[1])}
    weights.combine(losses).backward()
    clip(weights, [x], max_norm, losses)
    optimiser.step()
    return float(x.detach().norm())


def by_torch(weights, parameters, max_norm, losses):
    nn.utils.clip_grad_norm_(parameters, max_norm)


def by_weight(weights, parameters, max_norm, losses):
    weights.clip_gradients(parameters, max_norm=max_norm, tasks=losses)


def test_torchs_own_clipping_undoes_the_weights():
    assert moved("a", clip=by_torch) / moved("b", clip=by_torch) == pytest.approx(1)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e9])
def test_nine_to_one_stays_nine_to_one(size):
    ratio = moved("a", clip=by_weight, size=size) / moved("b", clip=by_weight, size=size)
    assert ratio == pytest.approx(9)


def test_a_small_weight_is_not_lost():
    large = moved("a", clip=by_weight, share=1 - 1e-7)
    small = moved("b", clip=by_weight, share=1 - 1e-7)
    assert large / small == pytest.approx(1e7, rel=1e-3)


def test_a_step_on_all_tasks_is_clipped_as_by_torch():
    weights = Fixed(["a", "b"], initial={"a": 0.9, "b": 0.1})
    x, y = (torch.ones(3, requires_grad=True) for _ in range(2))
    for point in (x, y):
        losses = {"a": (30 * point).sum(), "b": (point**2).sum()}
        weights.combine(losses).backward()
    norm = weights.clip_gradients([x], max_norm=2.0, tasks=["a", "b"])
    expected = nn.utils.clip_grad_norm_([y], 2.0)
    torch.testing.assert_close(norm, expected)
    torch.testing.assert_close(x.grad, y.grad)


def test_short_gradients_are_left_as_they_are():
    weights = Fixed(["a", "b"])
    x = torch.ones(1, requires_grad=True)
    weights.combine({"a": 0.5 * x.sum()}).backward()
    norm = weights.clip_gradients(iter([x, torch.ones(1)]), max_norm=1.0, tasks=["a"])
    assert (float(norm), x.grad.item()) == (0.5, 0.25)


def test_a_task_without_weight_has_nothing_to_clip():
    weights = Fixed(["a", "b"], initial={"a": 1.0, "b": 0.0})
    x = torch.ones(1, requires_grad=True)
    weights.combine({"b": x.sum()}).backward()
    assert weights.clip_gradients([x], max_norm=1.0, tasks=["b"]) == 0
    assert x.grad.item() == 0


@pytest.mark.parametrize("max_norm", [0.0, -1.0, float("nan"), float("inf"), None, True])
def test_a_bound_that_is_none_is_refused(max_norm):
    with pytest.raises(TrainingError, match="max_norm"):
        Fixed(["a"]).clip_gradients([], max_norm=max_norm, tasks=["a"])


def test_tasks_without_a_weight_are_refused():
    with pytest.raises(WeightsError, match="no weight for 'c'"):
        Fixed(["a", "b"]).clip_gradients([], max_norm=1.0, tasks=["c"])
    with pytest.raises(WeightsError, match=r'write \["a"\]'):
        Fixed(["a", "b"]).clip_gradients([], max_norm=1.0, tasks="a")


def test_a_module_is_taken_for_its_parameters():
    module, other = nn.Linear(2, 2), nn.Linear(2, 2)
    other.load_state_dict(module.state_dict())
    weights = Fixed(["a", "b"], initial={"a": 0.9, "b": 0.1})
    for each in (module, other):
        weights.combine({"a": 100 * each(torch.ones(3, 2)).sum()}).backward()
    weights.clip_gradients(module, max_norm=1.0, tasks=["a"])
    weights.clip_gradients(other.parameters(), max_norm=1.0, tasks=["a"])
    assert torch.equal(module.weight.grad, other.weight.grad)


def test_names_with_parameters_are_refused():
    weights = Fixed(["a"])
    with pytest.raises(TrainingError, match="named_parameters"):
        weights.clip_gradients(nn.Linear(2, 2).named_parameters(), max_norm=1.0, tasks=["a"])
