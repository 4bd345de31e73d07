"""What a curvature cannot solve with: settings out of range, singular Hessians, NaN."""

import math

import pytest
import torch
from torch import nn

from tawt.curvature import (
    AdamDiagonal,
    ConjugateGradient,
    Dense,
    Identity,
    WeightedHessian,
)
from tawt.errors import ConfigError, TrainingError
from tawt.hypergradient import CurvatureWeighted
from tawt.weighting import TargetAware, UpdateRule

NUMBERS = {
    AdamDiagonal: ["damping"],
    ConjugateGradient: ["damping", "iterations", "tolerance"],
    Dense: ["damping"],
    Identity: ["scale"],
}
SETTINGS = [(make, name) for make, names in NUMBERS.items() for name in names]


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, True, "1"])
@pytest.mark.parametrize(("make", "name"), SETTINGS)
def test_settings_are_finite_numbers(make, name, value):
    with pytest.raises(ConfigError, match=name):
        make(**{name: value})


def test_counts_are_whole():
    with pytest.raises(ConfigError, match="iterations"):
        ConjugateGradient(iterations=2.5)


def test_dense_takes_no_negative_damping():
    with pytest.raises(ConfigError, match="damping"):
        Dense(damping=-0.1)


def singular(dtype=torch.float64):
    """(x + y)², which is flat along (1, −1)."""
    x = torch.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    return x, WeightedHessian([x], {"a": 1.0}, lambda task: x.sum() ** 2)


def nearly_singular():
    """As flat, but for what rounding leaves of 0.1 · 3 − 0.3."""
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    matrix = torch.tensor([[0.1 * 3, 0.3], [0.3, 0.3]], dtype=torch.float64)
    return x, WeightedHessian([x], {"a": 1.0}, lambda task: x @ matrix @ x / 2)


@pytest.mark.parametrize("make", [singular, nearly_singular])
def test_a_singular_hessian_asks_for_damping(make):
    x, hessian = make()
    with pytest.raises(TrainingError, match=r"singular.*Raise `damping`"):
        Dense().solve([torch.tensor([1.0, 3.0], dtype=torch.float64)], hessian)
    (found,) = Dense(damping=0.1).solve([torch.ones_like(x).detach()], make()[1])
    assert torch.isfinite(found).all()


def test_conjugate_gradient_without_damping_goes_on_with_what_it_has():
    _, hessian = singular()
    vector = torch.tensor([1.0, 3.0], dtype=torch.float64)
    (found,) = ConjugateGradient(damping=0.0).solve([vector], hessian)
    assert torch.isfinite(found).all()


CURVATURES = {
    "conjugate gradient": ConjugateGradient(damping=1.0),
    "dense": Dense(damping=1.0),
}


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("whose", ["a", "goal"])
@pytest.mark.parametrize("name", CURVATURES)
def test_a_loss_that_is_not_finite_skips_the_update(name, whose, value):
    torch.manual_seed(0)
    encoder, head = nn.Linear(3, 4), nn.Linear(4, 1)
    inputs = torch.randn(6, 3)

    def loss_of(task):
        scale = value if task == whose else 1.0
        return (head(torch.tanh(encoder(inputs))) - len(task)).square().mean() * scale

    rule = UpdateRule(alignment=CurvatureWeighted(CURVATURES[name]))
    weights = TargetAware(sources=["a", "b"], target="goal", target_share=None, rule=rule)
    before = weights.weights.logs.clone()
    update = weights.update(encoder, loss_of=loss_of)
    assert "not finite" in update.skipped
    assert torch.equal(weights.weights.logs, before)
