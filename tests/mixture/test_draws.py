"""Tasks come as often as their weights say, and a draw depends on nothing else."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tawt.errors import ConfigError
from tawt.mixture import TaskDraws, shares_of
from tawt.weighting import Fixed
from tawt.weights import SourceWeights

STEPS = 4000


def hoeffding(steps, *, chance=1e-9):
    """How far a frequency may be from its probability; further with that chance."""
    return math.sqrt(math.log(2 / chance) / (2 * steps))


def frequencies(draws, names, *, count=1):
    tasks = [name for step in range(STEPS) for name in draws.draw(step, count=count).tasks]
    return {name: tasks.count(name) / len(tasks) for name in names}


@pytest.mark.parametrize("floor", [0.0, 0.1])
def test_frequencies_are_the_probabilities(floor):
    weights = {"a": 0.7, "b": 0.0, "c": 0.3}
    draws = TaskDraws(weights, names=list(weights), seed=3, floor=floor)
    wanted = {name: floor + (1 - 3 * floor) * share for name, share in weights.items()}
    assert draws.probabilities() == pytest.approx(wanted)
    found = frequencies(draws, weights)
    for name, chance in wanted.items():
        assert abs(found[name] - chance) < hoeffding(STEPS)
    if not floor:
        assert found["b"] == 0


def test_examples_of_a_mixed_batch_are_drawn_one_by_one():
    draws = TaskDraws({"a": 1, "b": 3}, names=["a", "b"], seed=0)
    found = frequencies(draws, ["a", "b"], count=4)
    assert abs(found["b"] - 0.75) < hoeffding(4 * STEPS)
    assert len({draws.draw(step, count=4).tasks for step in range(50)}) > 4


def test_steps_are_independent():
    """The correlation of a step with the next is that of independent ones."""
    draws = TaskDraws({"a": 0.5, "b": 0.5}, names=["a", "b"], seed=0)
    drawn = np.array([draws.draw(step).tasks[0] == "a" for step in range(STEPS)], dtype=float)
    correlation = np.corrcoef(drawn[:-1], drawn[1:])[0, 1]
    assert abs(correlation) < 5 / math.sqrt(STEPS)


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=6).filter(lambda shares: sum(shares) > 1e-6),
    st.floats(0, 1),
)
def test_factors_keep_the_objective(shares, part):
    """Σ p_t · (ω_t / p_t) L_t is Σ ω_t L_t, whatever the floor, to a ten-thousandth of a draw."""
    weights = {f"task {place}": share for place, share in enumerate(shares)}
    draws = TaskDraws(weights, names=list(weights), seed=0, floor=part / len(shares) * 0.999)
    chances, factors = draws.probabilities(), draws.factors()
    assert math.fsum(chances.values()) == pytest.approx(1)
    assert min(chances.values()) >= draws.floor
    for name, share in shares_of(weights).items():
        assert chances[name] * factors[name] == pytest.approx(share, abs=1.01e-4 * chances[name])
        assert draws.floor == 0 or factors[name] >= 1e-4


def test_a_task_of_weight_zero_is_never_drawn_without_a_floor():
    draws = TaskDraws({"a": 0, "b": 1e-300, "c": 0}, names=["a", "b", "c"], seed=0)
    assert {draws.draw(step).tasks for step in range(200)} == {("b",)}


def test_weights_are_read_when_a_step_is_drawn():
    weights = {"a": 1.0, "b": 0.0}
    draws = TaskDraws(weights, names=["a", "b"], seed=0)
    assert draws.draw(0).tasks == ("a",)
    weights["a"], weights["b"] = 0.0, 1.0
    assert draws.draw(0).tasks == ("b",)


@pytest.mark.parametrize(
    "weights",
    [{"a": 1, "b": 3}, SourceWeights.of({"a": 0.25, "b": 0.75})],
)
def test_every_kind_of_weights_is_read(weights):
    assert shares_of(weights) == {"a": 0.25, "b": 0.75}
    held = Fixed(["a", "b"], initial={"a": 0.25, "b": 0.75})
    assert shares_of(held) == {"a": 0.25, "b": 0.75}


def test_temperature_lies_between_sizes_and_equality():
    sizes = {"a": 10, "b": 1000}
    tempered = SourceWeights.tempered(sizes, exponent=0.5)
    assert tempered.shares() == pytest.approx({"a": 1 / 11, "b": 10 / 11})
    by_size = SourceWeights.proportional(sizes).shares()
    assert SourceWeights.tempered(sizes, exponent=1).shares() == pytest.approx(by_size)
    assert SourceWeights.tempered(sizes, exponent=0).shares() == {"a": 0.5, "b": 0.5}
    start = Fixed(list(sizes), initial=tempered.shares())
    assert start["a"] == pytest.approx(1 / 11)


@pytest.mark.parametrize("floor", [-0.1, 0.6, float("nan"), "much"])
def test_a_floor_out_of_range_is_refused(floor):
    with pytest.raises(ConfigError, match=r"between 0 and 0\.5; got"):
        TaskDraws({"a": 1, "b": 1}, names=["a", "b"], seed=0, floor=floor)
