"""Weights by inner products of gradients, against numbers worked out by hand."""

import math

import pytest
import torch
from torch import nn

from tawt.errors import ConfigError, TrainingError
from tawt.weighting import DoGE

NAMES = ["a", "b", "c"]


def weighting(**options):
    return DoGE(**{"sources": NAMES, "target": "goal", "target_share": None, **options})


def updated(found, gradients):
    point = torch.ones(2, dtype=torch.float64).requires_grad_()
    ways = {name: torch.tensor(way, dtype=torch.float64) for name, way in gradients.items()}
    return found.update([point], loss_of=lambda task: point @ ways[task])


def test_an_update_worked_out_by_hand():
    """⟨(2, 1), (1, 3)⟩ = 5, ⟨(0, 1), (1, 3)⟩ = 3, ⟨(1, −1), (1, 3)⟩ = −2; η/μ = ln 2."""
    found = weighting(step_size=0.05 * math.log(2))
    update = updated(found, {"a": [2, 1], "b": [0, 1], "c": [1, -1], "goal": [1, 3]})
    assert update.alignments == pytest.approx({"a": 5, "b": 3, "c": -2})
    assert update.losses == pytest.approx({"goal": 4, "a": 3, "b": 1, "c": 0})
    total = 2**5 + 2**3 + 2**-2
    wanted = {"a": 2**5 / total, "b": 2**3 / total, "c": 2**-2 / total}
    assert found.shares() == pytest.approx(wanted, abs=1e-14)


def test_updates_of_a_network_are_those_of_the_paper():
    """α ← α exp(η W / μ), with flat gradients of a real network."""
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(3, 5), nn.Tanh()).double()
    heads = {name: torch.randn(5, dtype=torch.float64) for name in [*NAMES, "goal"]}
    inputs = torch.randn(7, 3, dtype=torch.float64)

    def loss_of(task):
        return (encoder(inputs) @ heads[task]).square().mean()

    found, alpha = weighting(step_size=0.003, mu=0.02), torch.full((3,), 1 / 3).double()
    total = torch.zeros(3).double()
    for _ in range(4):
        found.update(encoder, loss_of=loss_of)
        flat = {
            name: torch.cat(
                [g.flatten() for g in torch.autograd.grad(loss_of(name), encoder.parameters())]
            )
            for name in heads
        }
        inner = torch.stack([flat[name] @ flat["goal"] for name in NAMES])
        alpha = alpha * torch.exp(0.003 * inner / 0.02)
        alpha = alpha / alpha.sum()
        total += alpha
        with torch.no_grad():
            encoder[0].weight -= 0.1 * encoder[0].weight
    assert [*found.shares().values()] == pytest.approx(alpha.tolist(), abs=1e-10)
    assert [*found.average().values()] == pytest.approx((total / 4).tolist(), abs=1e-10)


def test_the_target_keeps_its_share():
    found = weighting(sources=["a", "b"], target_share=0.4, step_size=0.05 * math.log(3))
    updated(found, {"a": [1, 0], "b": [0, 1], "goal": [1, 0]})
    assert found.shares() == pytest.approx({"a": 0.45, "b": 0.15, "goal": 0.4}, abs=1e-14)


def test_several_targets_are_one_combination():
    ways = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.0, 0.0], "x": [4.0, 0.0], "y": [0.0, 4.0]}
    update = updated(weighting(target={"x": 0.75, "y": 0.25}), ways)
    assert update.alignments == pytest.approx({"a": 3, "b": 1, "c": 0})


def test_defaults_move_weights_little_in_one_step():
    found = weighting()
    assert (found.step_size, found.mu) == (5e-4, 0.05)
    updated(found, {"a": [1, 0], "b": [0, 1], "c": [0, 1], "goal": [1, 0]})
    assert found["a"] / found["b"] == pytest.approx(math.exp(0.01))


def test_a_target_without_a_gradient_is_refused_at_first():
    with pytest.raises(TrainingError, match="gradient of zero"):
        updated(weighting(), {"a": [1, 0], "b": [0, 1], "c": [0, 1], "goal": [0, 0]})


@pytest.mark.parametrize("options", [{"step_size": 0}, {"mu": -1}, {"mu": math.inf}])
def test_settings_are_checked(options):
    with pytest.raises(ConfigError, match=f"`{next(iter(options))}`"):
        weighting(**options)
