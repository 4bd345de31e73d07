"""Places of values: in order, inside the picture, and not squeezed by what failed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tawt.report.scales import (
    LogScale,
    Scale,
    main_range,
    rounded_out,
    step_of,
    with_intervals,
    written,
)

numbers = st.floats(-1e6, 1e6, allow_nan=False)


@given(low=numbers, span=st.floats(1e-3, 1e6), values=st.lists(numbers, min_size=2))
def test_a_scale_keeps_the_order_of_values_and_never_leaves_the_picture(low, span, values):
    scale = Scale(low=low, high=low + span, start=10.0, end=390.0)
    places = [scale.at(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(10.0 <= place <= 390.0 + 1e-9 for place in places)
    assert scale.at(low) == 10.0
    assert scale.at(low + span) == pytest.approx(390.0)


def test_equal_ratios_are_equally_far_apart_on_a_scale_of_ratios():
    scale = LogScale(low=1.0, high=1000.0, start=0.0, end=300.0)
    assert [scale.at(value) for value in (1, 10, 100, 1000)] == pytest.approx([0, 100, 200, 300])


@given(low=numbers, span=st.floats(1e-3, 1e6))
def test_a_rounded_scale_holds_all_and_has_a_few_round_ticks(low, span):
    first, last = rounded_out(low, low + span)
    step = step_of(span, most=4)
    assert first <= low + 1e-6 * step
    assert last >= low + span - 1e-6 * step
    assert last - first < span + 2.01 * step
    scale = Scale(low=first, high=last, start=0.0, end=1.0)
    assert 2 <= len(scale.ticks(4)) <= 6


def test_a_failed_row_is_left_off_the_scale():
    assert main_range([72.2, 73.8, 80.6, 9.9, 80.4, 81.2, 84.9], worse="low") == (72.2, 84.9)
    assert main_range([72.2, 73.8, 9.9, 10.4, 80.4, 81.2, 84.9], worse="low") == (72.2, 84.9)
    assert main_range([2.31, 2.35, 9.0], worse="high") == (2.31, 2.35)


def test_a_row_far_better_than_the_rest_is_never_left_off():
    assert main_range([12.6, 12.5, 12.7, 40.8], worse="low") == (12.5, 40.8)
    assert main_range([2.31, 9.1, 9.0, 9.2], worse="high") == (2.31, 9.2)


def test_rows_that_differ_little_are_all_on_the_scale():
    assert main_range([40.0, 40.01, 39.0], worse="low") == (39.0, 40.01)
    assert main_range([0.0, 0.0, 0.0], worse="low") == (0.0, 0.0)


@given(st.lists(numbers, min_size=1), st.sampled_from(["low", "high"]))
def test_more_than_half_of_the_rows_stay_and_the_best_is_one_of_them(values, worse):
    low, high = main_range(values, worse=worse)
    inside = [value for value in values if low <= value <= high]
    assert 2 * len(inside) > len(values)
    assert (high if worse == "low" else low) == (max if worse == "low" else min)(values)


def test_intervals_stretch_a_scale_but_do_not_squeeze_the_values():
    low, high = with_intervals((70.0, 80.0), [(-500.0, 600.0)])
    assert (high - low) < 2 * 10.0
    assert with_intervals((70.0, 80.0), [(69.0, 81.0)]) == (69.0, 81.0)


@pytest.mark.parametrize(("value", "step", "said"), [
    (0.25, 0.25, "0.25"), (0.0, 0.25, "0.00"), (-0.0, 0.1, "0.0"), (1e6, 5e5, "1,000,000"),
    (0.00025, 0.00025, "0.00025"), (-3.0, 1.0, "-3"),
])  # fmt: skip
def test_numbers_have_the_decimals_of_their_step(value, step, said):
    assert written(value, step=step) == said


@pytest.mark.parametrize("ends", [(0.0, 0.0), (1e100, 1e100), (-1e100, 1e100), (0.0, 1e-320)])
def test_the_ends_of_what_a_file_may_hold_are_drawn(ends):
    low, high = rounded_out(*ends)
    scale = Scale(low=low, high=high, start=0.0, end=400.0)
    assert all(math.isfinite(scale.at(end)) for end in ends)
    assert all(isinstance(said, str) for _, said in scale.labelled(4))
