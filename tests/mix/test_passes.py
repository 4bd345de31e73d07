"""Passes, and weights that repeat no source too often."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

from tawt.mix.passes import capped, passes_over, too_rare

AMOUNTS = some.dictionaries(
    some.sampled_from("abcde"), some.integers(1, 1000), min_size=2, max_size=5
)


def by_bisection(weights, amounts, *, wanted, most):
    """The scale at which shares, each cut off at its limit, add up to one."""
    limits = {name: most * amounts[name] / wanted for name in weights}
    low, high = 0.0, 1e15
    for _ in range(300):
        scale = (low + high) / 2
        if sum(min(limits[name], scale * weights[name]) for name in weights) < 1:
            low = scale
        else:
            high = scale
    return {name: min(limits[name], high * weights[name]) for name in weights}


def test_passes_by_hand():
    found = passes_over({"a": 0.75, "b": 0.25}, {"a": 50, "b": 1000}, wanted=400)
    assert found == {"a": 6.0, "b": 0.1}


def test_what_a_capped_source_loses_may_cap_another():
    # a is held at 4 · 10 / 100; b gets 0.6 · 3/4 = 0.45, beyond 4 · 10 / 100; c takes the rest.
    weights, amounts = {"a": 0.6, "b": 0.3, "c": 0.1}, {"a": 10, "b": 10, "c": 1000}
    found = capped(weights, amounts, wanted=100, most=4)
    assert found == pytest.approx({"a": 0.4, "b": 0.4, "c": 0.2})


def test_weights_that_repeat_nothing_too_often_stay():
    weights = {"a": 0.6, "b": 0.4}
    assert capped(weights, {"a": 100, "b": 100}, wanted=100, most=4) == pytest.approx(weights)


@pytest.mark.parametrize(("wanted", "most"), [(81, 4), (10**9, None)])
def test_without_a_limit_or_with_too_little_text_for_it_weights_stay(wanted, most):
    weights = {"a": 0.7, "b": 0.3}
    assert capped(weights, {"a": 10, "b": 10}, wanted=wanted, most=most) == weights


def test_sources_without_weight_take_over_where_all_others_are_held():
    found = capped({"a": 1.0, "b": 0.0}, {"a": 10, "b": 100}, wanted=100, most=4)
    assert found == pytest.approx({"a": 0.4, "b": 0.6})


@given(AMOUNTS, some.data(), some.floats(0.1, 5000), some.floats(1, 8))
def test_capped_weights_are_those_of_a_bisection(amounts, data, wanted, most):
    raw = {name: data.draw(some.floats(0.01, 1)) for name in amounts}
    weights = {name: share / sum(raw.values()) for name, share in raw.items()}
    assume(abs(most * sum(amounts.values()) / wanted - 1) > 1e-3)
    found = capped(weights, amounts, wanted=wanted, most=most)
    if most * sum(amounts.values()) < wanted:
        assert found == weights
        return
    assert sum(found.values()) == pytest.approx(1)
    passes = passes_over(found, amounts, wanted=wanted)
    assert all(each <= most * (1 + 1e-6) for each in passes.values())
    oracle = by_bisection(weights, amounts, wanted=wanted, most=most)
    assert found == pytest.approx(oracle, rel=1e-5, abs=1e-7)


def test_rare_sources_are_left_out_unless_they_are_rare_because_they_are_held():
    chosen = {"a": 0.5, "b": 0.4985, "c": 0.0009, "d": 0.0006, "e": 0.0}
    assert too_rare(chosen, beside=chosen) == {"c", "d", "e"}
    # a was held at its passes; d is drawn often now that a is not.
    used = {"a": 0.0004, "b": 0.997, "c": 0.0006, "d": 0.002, "e": 0.0}
    assert too_rare(used, beside=chosen) == {"c", "e"}
    assert "a" in too_rare({**used, "a": 1e-7}, beside=chosen)  # which is zero in a file


def test_many_sources_are_all_drawn_rarely_and_none_is_left_out_for_that():
    alike = {str(k): 1 / 5000 for k in range(5000)}
    assert too_rare(alike, beside=alike) == set()
