"""Every example once in a pass, in an order of its own, none twice in a short window."""

import pickle

import numpy as np
import pytest

from tawt.mixture import Order


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 40])
def test_every_example_comes_once_in_a_pass(size):
    order = Order(size, seed=0, purpose=("train", "a"))
    for number in range(4):
        assert sorted(order.window(number * size, size)) == list(range(size))


@pytest.mark.parametrize("size", [4, 9, 16, 41])
def test_a_quarter_in_a_row_are_different_ones(size):
    order = Order(size, seed=1, purpose=("train", "a"))
    whole = order.window(0, 12 * size)
    for start in range(11 * size):
        window = whole[start : start + size // 4]
        assert len(set(window.tolist())) == len(window)


def test_passes_differ_and_depend_on_seed_task_and_number_alone():
    order = Order(50, seed=0, purpose=("train", "a"))
    later = order.window(150, 50)
    assert np.array_equal(Order(50, seed=0, purpose=("train", "a")).window(150, 50), later)
    for other in (
        order.window(100, 50),
        Order(50, seed=1, purpose=("train", "a")).window(150, 50),
        Order(50, seed=0, purpose=("train", "b")).window(150, 50),
        Order(50, seed=0, purpose=("fresh", "a")).window(150, 50),
    ):
        assert not np.array_equal(other, later)


def test_windows_are_parts_of_one_sequence():
    order = Order(7, seed=0, purpose=("x",))
    whole = order.window(0, 60)
    for start in range(0, 40, 3):
        for count in (0, 1, 5, 20):
            assert np.array_equal(order.window(start, count), whole[start : start + count])


def test_every_position_of_every_example_is_as_likely():
    """What keeps a pass from beginning with the last one's end favours no example over passes."""
    size, passes = 8, 4000
    order = Order(size, seed=0, purpose=("x",))
    first = np.array([order.window(number * size, 1)[0] for number in range(passes)])
    counts = np.bincount(first, minlength=size)
    expected = passes / size
    assert ((counts - expected) ** 2 / expected).sum() < 40  # chi-squared, 7 degrees: 1e-6


def test_an_order_that_is_kept():
    order = Order(3, seed=0, purpose=("x",), shuffled=False)
    assert order.window(1, 6).tolist() == [1, 2, 0, 1, 2, 0]


def test_a_copy_does_not_carry_its_passes():
    order = Order(100_000, seed=0, purpose=("x",))
    order.window(0, 1)
    saved = pickle.dumps(order)
    assert len(saved) < 1000
    assert np.array_equal(pickle.loads(saved).window(5, 9), order.window(5, 9))
