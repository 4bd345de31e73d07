"""Adam's diagonal: its formula, where its state comes from, and what is said when there is none."""

import gc
import weakref

import numpy as np
import pytest
import torch
from torch import nn

from tawt.arrays import classification
from tawt.curvature import AdamDiagonal, WeightedHessian
from tawt.errors import ConfigError, TrainingError
from tawt.hypergradient import CurvatureWeighted
from tawt.tasks import MultiTaskModel
from tawt.training import JointTraining, PreTraining, Settings, train
from tawt.weighting import Fixed, TargetAware, UpdateRule

DOUBLE = {"dtype": torch.float64}


def hessian_of(*parameters):
    return WeightedHessian(parameters, {}, lambda task: parameters[0].sum())


def stepped(optimiser, parameters, *, steps=4):
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape, generator=generator, **DOUBLE)
        optimiser.step()
    return optimiser


@pytest.mark.parametrize(
    "kind", [torch.optim.Adam, torch.optim.AdamW, torch.optim.NAdam, torch.optim.RAdam]
)
def test_it_divides_by_the_bias_corrected_root(kind):
    x, y = (torch.ones(n, requires_grad=True, **DOUBLE) for n in (3, 2))
    optimiser = stepped(kind([x, y], lr=1e-3, betas=(0.9, 0.95)), [x, y])
    curvature = AdamDiagonal(damping=0.5)
    curvature.follow(optimiser)
    found = torch.cat(curvature.solve([torch.ones(3, **DOUBLE), None], hessian_of(x, y)))
    moments = torch.cat([optimiser.state[p]["exp_avg_sq"] for p in (x, y)])
    roots = (moments / (1 - 0.95**4)).sqrt()
    expected = torch.tensor([1.0, 1, 1, 0, 0], **DOUBLE) / (roots + 0.5 * roots.mean())
    torch.testing.assert_close(found, expected)


def test_it_is_the_direction_of_adams_first_step():
    x = torch.zeros(3, requires_grad=True, **DOUBLE)
    optimiser = torch.optim.Adam([x], lr=1.0)
    gradient = torch.tensor([1.0, -2.0, 0.01], **DOUBLE)
    x.grad = gradient.clone()
    optimiser.step()
    curvature = AdamDiagonal(damping=1e-9)
    curvature.follow(optimiser)
    (found,) = curvature.solve([gradient], hessian_of(x))
    torch.testing.assert_close(-found, x.detach(), rtol=1e-5, atol=0)


def test_before_the_first_step_gradients_are_taken_as_they_are(caplog):
    x = torch.ones(2, requires_grad=True)
    optimiser = torch.optim.Adam([x])
    curvature = AdamDiagonal()
    curvature.follow(optimiser)
    (found,) = curvature.solve([torch.tensor([1.0, 2.0])], hessian_of(x))
    assert found.tolist() == [1.0, 2.0]
    assert "no step yet" in caplog.text


def test_a_first_step_that_was_skipped_counts_as_none():
    x = torch.ones(2, requires_grad=True)
    optimiser = torch.optim.AdamW([x], fused=True)
    x.grad = torch.full((2,), torch.nan)
    optimiser.grad_scale, optimiser.found_inf = None, torch.ones(())
    optimiser.step()
    assert float(optimiser.state[x]["step"]) == 0
    curvature = AdamDiagonal()
    curvature.follow(optimiser)
    (found,) = curvature.solve([torch.tensor([1.0, 2.0])], hessian_of(x))
    assert found.tolist() == [1.0, 2.0]


def test_a_parameter_without_a_step_counts_as_having_the_mean():
    x, late = (torch.ones(2, requires_grad=True, **DOUBLE) for _ in range(2))
    optimiser = torch.optim.Adam([x, late])
    x.grad = torch.tensor([1.0, 3.0], **DOUBLE)
    optimiser.step()
    curvature = AdamDiagonal(damping=1.0)
    curvature.follow(optimiser)
    _, found = curvature.solve([None, torch.ones(2, **DOUBLE)], hessian_of(x, late))
    torch.testing.assert_close(found, torch.full((2,), 1 / (2 + 2), **DOUBLE))


def test_never_told():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(TrainingError, match=r"weights\.follow\(optimiser\)"):
        AdamDiagonal().solve([torch.ones(2)], hessian_of(x))


def test_told_of_one_that_trains_something_else():
    x, other = (torch.ones(2, requires_grad=True) for _ in range(2))
    optimiser = torch.optim.Adam([other])
    curvature = AdamDiagonal()
    curvature.follow(optimiser)
    with pytest.raises(TrainingError, match="holds no parameter of the representation"):
        curvature.solve([torch.ones(2)], hessian_of(x))


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adagrad])
def test_told_of_one_without_second_moments(kind):
    with pytest.raises(TrainingError, match="keeps no second moments"):
        AdamDiagonal().follow(kind([torch.ones(2, requires_grad=True)], lr=0.1))


def test_told_of_one_with_moments_of_another_kind():
    x = torch.ones(2, requires_grad=True)
    optimiser = torch.optim.Adamax([x])
    x.grad = torch.ones(2)
    optimiser.step()
    curvature = AdamDiagonal()
    curvature.follow(optimiser)
    with pytest.raises(TrainingError, match="needs `exp_avg_sq`"):
        curvature.solve([torch.ones(2)], hessian_of(x))


@pytest.mark.parametrize("damping", [0.0, -1.0])
def test_damping_must_be_positive(damping):
    with pytest.raises(ConfigError, match="must be positive"):
        AdamDiagonal(damping=damping)


def test_it_does_not_keep_the_optimiser():
    optimiser = torch.optim.Adam([torch.ones(2, requires_grad=True)])
    curvature, alive = AdamDiagonal(), weakref.ref(optimiser)
    curvature.follow(optimiser)
    del optimiser
    gc.collect()
    assert alive() is None


def test_fixed_weights_take_no_notice():
    Fixed(["a"]).follow(torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1))


@pytest.mark.parametrize("paradigm", [JointTraining(epochs=2), PreTraining(epochs=2)])
def test_train_tells_it(paradigm):
    generator = np.random.default_rng(0)
    tasks = [
        classification(
            name,
            train=(
                generator.normal(size=(24, 5)).astype(np.float32),
                generator.integers(2, size=24),
            ),
        )
        for name in ("a", "b", "goal")
    ]
    rule = UpdateRule(alignment=CurvatureWeighted(AdamDiagonal()), step_size=0.1)
    joint = isinstance(paradigm, JointTraining)
    weighting = TargetAware(
        sources=["a", "b"], target="goal", rule=rule, target_share=0.3 if joint else None
    )
    torch.manual_seed(0)
    model = MultiTaskModel.for_tasks(nn.Sequential(nn.Linear(5, 4), nn.Tanh()), tasks, width=4)
    result = train(
        model,
        tasks=tasks,
        target="goal",
        paradigm=paradigm,
        weighting=weighting,
        settings=Settings(batch_size=8, update_every=2),
    )
    assert len(result.history) >= 4
    assert all(update.skipped is None for update in result.history)
    assert result.history[-1].weights != result.history[0].weights
