"""Heads fitted to the end, and their bounded risks."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import log_softmax

from tawt.errors import DataError
from tawt.probes import Items, Probe


def clouds(seed, *, items=120, width=4, classes=3, apart=1.5):
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, classes, items)
    centres = apart * draw.normal(size=(classes, width))
    vectors = centres[labels] + draw.normal(size=(items, width))
    return Items(torch.from_numpy(vectors), torch.from_numpy(labels))


def test_the_head_is_the_minimum_of_its_convex_problem():
    items = clouds(0)
    ridge = 1e-3
    probe = Probe.fitted(items, ridge=ridge)
    points = ((items.vectors - probe.centre) / probe.spread).numpy()
    labels = items.labels.numpy()

    def objective(flat):
        weight, bias = flat[:12].reshape(3, 4), flat[12:]
        logs = log_softmax(points @ weight.T + bias, axis=1)
        return -logs[np.arange(len(labels)), labels].mean() + ridge / 2 * (weight**2).sum()

    ours = np.concatenate([probe.weight.numpy().ravel(), probe.bias.numpy()])
    found = minimize(objective, np.zeros(15), method="BFGS", options={"gtol": 1e-9})
    assert objective(ours) == pytest.approx(found.fun, abs=1e-9)
    np.testing.assert_allclose(ours[:12], found.x[:12], atol=1e-4)


def test_regression_is_ridge_regression():
    draw = np.random.default_rng(1)
    vectors = draw.normal(size=(50, 3))
    numbers = vectors @ np.array([1.0, -2.0, 0.5]) + 3 + 0.1 * draw.normal(size=50)
    items = Items(torch.from_numpy(vectors), torch.from_numpy(numbers))
    probe = Probe.fitted(items, ridge=1e-10)
    exact, *_ = np.linalg.lstsq(np.c_[vectors, np.ones(50)], numbers, rcond=None)
    expected = np.c_[vectors, np.ones(50)] @ exact
    np.testing.assert_allclose(probe.outputs(items.vectors)[:, 0], expected, atol=1e-6)
    errors = (expected - numbers) ** 2 / numbers.var()
    assert probe.risk(items).clipped == pytest.approx(np.minimum(errors, 4).mean() / 4, abs=1e-8)
    assert probe.risk(items).zero_one is None


def test_risks_are_by_hand():
    probe = Probe(
        weight=torch.tensor([[0.0], [1.0]], dtype=torch.float64),
        bias=torch.zeros(2, dtype=torch.float64),
        centre=torch.zeros(1, dtype=torch.float64),
        spread=torch.ones((), dtype=torch.float64),
        variance=1.0,
        is_regression=False,
        seen=torch.ones(2, dtype=torch.bool),
    )
    items = Items(torch.tensor([[2.0], [-50.0], [3.0]]), torch.tensor([1, 1, 0]))
    cap = 2 * math.log(2)
    losses = [math.log(1 + math.exp(-2)), cap, min(cap, math.log(1 + math.exp(3)))]
    assert probe.risk(items).clipped == pytest.approx(sum(losses) / 3 / cap)
    assert probe.risk(items).zero_one == pytest.approx(2 / 3)


def test_labels_that_training_never_showed_are_wrong_and_cost_the_most():
    probe = Probe.fitted(clouds(2, classes=2))
    unseen = Items(torch.zeros(4, 4), torch.tensor([7, 7, 7, 7]))
    risk = probe.risk(unseen)
    assert (risk.zero_one, risk.clipped) == (1.0, pytest.approx(1.0))


def test_one_class_and_more_dimensions_than_items_are_no_problem():
    alone = Items(torch.randn(5, 40), torch.zeros(5, dtype=torch.long))
    assert Probe.fitted(alone).risk(alone).zero_one == 0.0
    few = Items(torch.randn(6, 40), torch.tensor([0, 1, 2, 0, 1, 2]))
    assert Probe.fitted(few).risk(few).zero_one == 0.0


def test_nothing_cannot_be_fitted():
    with pytest.raises(DataError, match="no items"):
        Probe.fitted(Items(torch.zeros(0, 3), torch.zeros(0, dtype=torch.long)))
