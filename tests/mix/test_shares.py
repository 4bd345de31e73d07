"""From courses of weights to shares, intervals, and when to measure again; by hand."""

import math

import pytest
from scipy import stats

from tawt.mix.result import Point, Settling
from tawt.mix.shares import at_floor, clipped_interval, late_mean, mean_course, settled, thinned
from tests.mix.cases import course

START = {"near": 1 / 3, "far": 1 / 3, "noise": 1 / 3}


def test_the_second_half_of_the_steps_counts():
    # Updates after 20, 40, 60 and 80 steps of 100: 0.1 from half-time to 60, 0.5 to 80, then 0.7.
    late = late_mean(course(0.9, 0.1, 0.5, 0.7), steps=100)
    assert late["near"] == pytest.approx((10 * 0.1 + 20 * 0.5 + 20 * 0.7) / 50)
    assert sum(late.values()) == pytest.approx(1)
    # Of 80 steps 0.1 is left at half-time, exactly, and the last update is held for no step.
    late = late_mean(course(0.9, 0.1, 0.5, 0.7), steps=80)
    assert late["near"] == pytest.approx((20 * 0.1 + 20 * 0.5) / 40)


def test_weights_count_for_as_many_steps_as_they_were_held():
    after = {5: 0.9, 10: 0.8, 15: 0.7, 20: 0.6, 38: 0.5, 70: 0.2}
    late = late_mean([Point(step=s, weights={"a": a}) for s, a in after.items()], steps=100)
    # Half of the updates are over after 15 steps; of the second fifty 20 have 0.5, and 30 have 0.2.
    assert late["a"] == pytest.approx((20 * 0.5 + 30 * 0.2) / 50)


def test_an_only_update_is_what_there_is():
    alone = {"near": 0.4, "far": 0.3, "noise": 0.3}
    for steps in (20, 30, 100):
        assert late_mean(course(0.4), steps=steps) == pytest.approx(alone)


def test_the_interval_is_students():
    low, high = clipped_interval([0.5, 0.6, 0.7])
    reach = stats.t.ppf(0.975, 2) * 0.1 / math.sqrt(3)
    assert (low, high) == pytest.approx((0.6 - reach, 0.6 + reach))
    assert clipped_interval([0.1, 0.9]) == (0.0, 1.0)
    assert clipped_interval([0.5]) is None


def test_courses_are_averaged_update_by_update():
    found = mean_course([course(0.4, 0.6), course(0.6, 0.8, 0.9)])
    assert [point.step for point in found] == [20, 40]
    assert [point.weights["near"] for point in found] == pytest.approx([0.5, 0.7])


def test_weights_have_settled_when_they_stay_near_their_end():
    # Distances to the end: 0.4, 0.2, 0.05, 0, so near from step 60 on: put for 160/60 of the time.
    found = settled(course(0.4, 0.6, 0.75, 0.8), start=START, steps=160)
    assert found == Settling(step=60, moves=False, factor=pytest.approx(160 / 60))


def test_being_near_for_a_moment_is_not_to_have_settled():
    found = settled(course(0.8, 0.4, 0.8, 0.8, 0.8), start=START, steps=100)
    assert found.step == 60


def test_weights_that_move_in_the_last_quarter_have_not_settled():
    found = settled(course(0.4, 0.5, 0.6, 0.8), start=START, steps=80)
    assert found == Settling(step=80, moves=True, factor=None)


def test_weights_that_never_move_say_nothing_beyond_ten_times():
    found = settled(course(*[0.34] * 50, every=1), start=START, steps=50)
    assert found == Settling(step=0, moves=False, factor=10.0)


def test_before_the_first_update_nothing_is_known():
    found = settled(course(0.34, 0.34, every=40), start=START, steps=80)
    assert found.factor == 2.0


def test_the_floor_is_as_far_below_the_largest_as_the_bound_allows():
    weights = {"a": 0.6, "b": 0.07, "c": 0.09, "d": 0.24}
    assert at_floor(weights, bound=10) == {"b"}  # 0.06 · 1.25 is 0.075
    assert at_floor(weights, bound=3) == {"b", "c"}  # at most half of an equal share, 0.125
    assert at_floor({"a": 0.7, "b": 0.1, "c": 0.1, "d": 0.1}, bound=7) == {"b", "c", "d"}
    assert at_floor({"a": 0.99, "b": 0.01}, bound=None) == set()
    assert at_floor({"a": 0.5, "b": 0.5}, bound=1) == set()


def test_a_long_course_keeps_its_ends():
    long = [Point(step=step, weights={"a": 1.0}) for step in range(5000)]
    kept = thinned(long)
    assert (len(kept), kept[0].step, kept[-1].step) == (200, 0, 4999)
    assert thinned(long[:7]) == long[:7]
