import math
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tawt import simplex
from tests import oracles

sizes = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)
step_sizes = st.floats(0.01, 10)


def draw(size, seed):
    generator = torch.Generator().manual_seed(seed)
    logs = torch.randn(size, dtype=torch.float64, generator=generator).log_softmax(0)
    return logs, torch.randn(size, dtype=torch.float64, generator=generator)


def test_mirror_step_is_the_papers_equation():
    weights, gradient = [0.2, 0.5, 0.3], [0.4, -1.0, 2.0]
    ours = simplex.mirror_step(
        torch.tensor(weights, dtype=torch.float64).log(),
        torch.tensor(gradient, dtype=torch.float64),
        step_size=0.7,
    ).exp()
    expected = oracles.mirror_step_by_hand(weights, gradient, 0.7)
    torch.testing.assert_close(ours, torch.tensor(expected, dtype=torch.float64))


@given(size=sizes, seed=seeds, step_size=step_sizes)
def test_a_step_stays_on_the_simplex(size, seed, step_size):
    logs, gradient = draw(size, seed)
    moved = simplex.mirror_step(logs, gradient, step_size=step_size).exp()
    assert (moved >= 0).all()
    assert math.isclose(float(moved.sum()), 1, rel_tol=1e-12)


@given(size=sizes, seed=seeds, step_size=step_sizes)
def test_a_step_does_not_care_for_the_order_of_units(size, seed, step_size):
    logs, gradient = draw(size, seed)
    order = torch.randperm(size, generator=torch.Generator().manual_seed(seed))
    moved = simplex.mirror_step(logs, gradient, step_size=step_size).exp()
    shuffled = simplex.mirror_step(logs[order], gradient[order], step_size=step_size).exp()
    torch.testing.assert_close(shuffled, moved[order])


@given(size=sizes, seed=seeds, step_size=step_sizes, constant=st.floats(-100, 100))
def test_a_constant_added_to_the_gradient_changes_nothing(size, seed, step_size, constant):
    logs, gradient = draw(size, seed)
    moved = simplex.mirror_step(logs, gradient, step_size=step_size).exp()
    shifted = simplex.mirror_step(logs, gradient + constant, step_size=step_size).exp()
    torch.testing.assert_close(shifted, moved, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_huge_steps_neither_overflow_nor_lose_a_weight(size):
    logs = torch.tensor([0.5, 0.5], dtype=torch.float64).log()
    gradient = torch.tensor([size, 0.0], dtype=torch.float64)
    there = simplex.mirror_step(logs, gradient, step_size=1.0)
    assert torch.isfinite(there).all()
    back = simplex.mirror_step(there, -gradient, step_size=1.0)
    torch.testing.assert_close(back, logs)


@given(seed=seeds, size=st.integers(2, 6), beta=st.floats(1, 50), spread=st.floats(0.1, 20))
def test_bounded_weights_are_bounded_and_stay_weights(seed, size, beta, spread):
    logs = (spread * draw(size, seed)[1]).log_softmax(0)
    inside = simplex.bounded(logs, beta=beta)
    assert simplex.ratio(inside) <= beta * (1 + 1e-9)
    assert math.isclose(float(inside.exp().sum()), 1, rel_tol=1e-12)
    torch.testing.assert_close(simplex.bounded(inside, beta=beta), inside)


@pytest.mark.parametrize("beta", [1.5, 3.0, 10.0])
@pytest.mark.parametrize(
    "weights", [[0.9, 0.05, 0.03, 0.02], [0.5, 0.45, 0.04, 0.01], [0.97, 0.01, 0.01, 0.01]]
)
def test_bounded_is_the_nearest_in_relative_entropy(weights, beta):
    ours = simplex.bounded(torch.tensor(weights, dtype=torch.float64).log(), beta=beta).exp()
    expected = oracles.nearest_within_ratio(np.array(weights), beta)
    np.testing.assert_allclose(ours.numpy(), expected, atol=2e-6)


def test_bounded_leaves_out_what_was_left_out():
    logs = torch.tensor([0.99, 0.01, 0.0], dtype=torch.float64).log()
    inside = simplex.bounded(logs, beta=3.0).exp()
    torch.testing.assert_close(inside, torch.tensor([0.75, 0.25, 0.0], dtype=torch.float64))


@given(seed=seeds, size=st.integers(2, 6), low=st.floats(0, 0.5), width=st.floats(0, 0.5))
def test_with_share_keeps_the_range_and_the_ratios(seed, size, low, width):
    logs, _ = draw(size, seed)
    members = torch.zeros(size, dtype=torch.bool)
    members[0] = True
    moved = simplex.with_share(logs, members, low=low, high=low + width)
    share = float(moved[0].exp())
    assert low - 1e-12 <= share <= low + width + 1e-12
    assert math.isclose(float(moved.exp().sum()), 1, rel_tol=1e-12)
    if share < 1 and size > 2:
        torch.testing.assert_close(moved[1:] - moved[1], logs[1:] - logs[1])


def test_entropy_and_effective_sample_size_at_their_ends():
    sizes = torch.tensor([100.0, 300.0, 600.0], dtype=torch.float64)
    assert simplex.effective_sample_size((sizes / 1000).log(), sizes) == pytest.approx(1000)
    alone = torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64).log()
    assert simplex.effective_sample_size(alone, sizes) == pytest.approx(300)
    assert simplex.entropy(alone) == 0
    uniform = torch.full((3,), 1 / 3, dtype=torch.float64).log()
    assert simplex.entropy(uniform) == pytest.approx(math.log(3))


@given(
    size=st.integers(1, 12),
    seed=seeds,
    beta=st.sampled_from([1.0, 1.5, 4.0, 1e6]),
    scale=step_sizes,
)
def test_the_bound_of_many_rows_is_that_of_each(size, seed, beta, scale):
    generator = torch.Generator().manual_seed(seed)
    rows = scale * torch.randn(5, size, dtype=torch.float64, generator=generator)
    rows[0] = 0.0
    if size > 2:
        rows[1:3, 0] = -math.inf  # left out on purpose
    rows = torch.log_softmax(rows, -1)
    each = torch.stack([simplex.bounded(row, beta=beta).exp() for row in rows])
    torch.testing.assert_close(simplex.bounded_rows(rows, beta=beta).exp(), each)


def test_a_bisection_ends_when_two_numbers_are_neighbours():
    """Its middle may be rounded to the upper one, again and again."""
    draw = torch.Generator().manual_seed(0)
    began = time.process_time()
    for _ in range(50):
        rows = torch.randn(12, dtype=torch.float64, generator=draw)
        simplex.bounded(torch.log_softmax(3 * rows, 0), beta=2.0)
    assert time.process_time() - began < 2
