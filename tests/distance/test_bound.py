"""The terms of the bound: formulas by hand, and terms that are known."""

import math

import pytest

from tawt.distance import Terms, rates
from tawt.distance.bound import ADVICE, OPEN, leading
from tawt.errors import WeightsError

WEIGHTS = {"a": 0.5, "b": 0.3, "c": 0.2}
SIZES = {"a": 100, "b": 50, "c": 400}


def found_for(weights, sizes=SIZES):
    return rates(weights, sizes, target_size=25, head=6, representation=1000)


def test_the_effective_size_is_by_hand():
    # 0.25/100 + 0.09/50 + 0.04/400 = 0.0025 + 0.0018 + 0.0001
    assert found_for(WEIGHTS).effective_size == pytest.approx(1 / 0.0044)


def test_weights_by_size_are_worth_all_examples_and_one_source_its_own():
    total = sum(SIZES.values())
    by_size = {name: size / total for name, size in SIZES.items()}
    assert found_for(by_size).effective_size == pytest.approx(total)
    assert found_for({"b": 1.0}).effective_size == pytest.approx(50)
    assert found_for({"b": 1.0, "c": 0.0}).effective_size == pytest.approx(50)
    assert found_for(WEIGHTS).effective_size < total


def test_what_are_no_weights_is_refused():
    with pytest.raises(WeightsError, match="sum to 1"):
        found_for({"a": 0.0})
    with pytest.raises(WeightsError, match="at least one source"):
        found_for({})


def test_the_ratio_is_the_largest_over_the_smallest():
    assert found_for(WEIGHTS).ratio == pytest.approx(2.5)
    assert found_for(dict.fromkeys("abc", 1 / 3)).ratio == pytest.approx(1)
    assert found_for({"a": 1.0}).ratio == 1


def test_rates_are_by_hand():
    found = rates(WEIGHTS, SIZES, target_size=25, head=6, representation=1000, delta=0.01)
    doubt = math.log(100)
    assert found.effective_size == pytest.approx(1 / 0.0044)
    assert found.ratio == pytest.approx(2.5)
    assert found.head == pytest.approx(math.sqrt((6 + doubt) / 25))
    assert found.fixed == pytest.approx(math.sqrt((1000 + 3 * 6 + doubt) * 0.0044))
    # The theorem has n of every source: as many as the smallest has.
    each = (1000 + doubt) / (50 * 3) + (6 + math.log(3)) / 50
    assert found.learned == pytest.approx(2.5 * math.sqrt(each))


def test_rates_fall_with_the_root_of_the_sizes():
    def found(times):
        sizes = {name: times * size for name, size in SIZES.items()}
        return rates(WEIGHTS, sizes, target_size=25 * times, head=6, representation=1000)

    for name in ("head", "fixed", "learned"):
        assert getattr(found(4), name) == pytest.approx(getattr(found(1), name) / 2)


def test_a_source_without_weight_is_left_out():
    assert found_for({"a": 0.5, "b": 0.0, "c": 0.5}) == found_for({"a": 0.5, "c": 0.5})


@pytest.mark.parametrize(
    ("head", "sources", "mismatch"), [(0.3, 0.1, 0.2), (0.01, 0.2, 0.05), (0.0, 0.0, 0.4)]
)
def test_terms_that_fall_with_the_root_are_found_exactly(head, sources, mismatch):
    """Risk = floor + mismatch + a / √n_0 + b / √N, the best without mismatch and sources."""
    n, m, floor = 40, 900, 0.07
    a, b = head * math.sqrt(n), sources * math.sqrt(m)

    def risk(size, source_size):
        return floor + mismatch + a / math.sqrt(size) + b / math.sqrt(source_size)

    found = Terms.measured(
        risk=risk(n, m),
        half_head=risk(n / 2, m),
        half_sources=risk(n, m / 2),
        best=floor + a / math.sqrt(n),
    )
    assert found.head == pytest.approx(head)
    assert found.sources == pytest.approx(sources)
    assert found.mismatch == pytest.approx(mismatch)


def test_noise_makes_no_term_negative():
    found = Terms.measured(risk=0.3, half_head=0.29, half_sources=0.28, best=0.31)
    assert (found.head, found.sources, found.mismatch) == (0, 0, 0)
    # What too few source examples cost is no mismatch, even where it is all there is.
    found = Terms.measured(risk=0.3, half_head=0.3, half_sources=0.4, best=0.25)
    assert found.mismatch == 0


@pytest.mark.parametrize(
    ("terms", "dominant"),
    [(Terms(3, 2, 1), "head"), (Terms(1, 3, 2), "sources"), (Terms(1, 2, 3), "mismatch")],
)
def test_advice_is_about_the_largest_term(terms, dominant):
    assert terms.dominant == dominant
    assert leading([terms]) == dominant
    assert dominant in ADVICE


def test_nothing_stands_out_where_seeds_disagree_or_nothing_is_there():
    assert Terms(0, 0, 0).dominant is None
    assert leading([Terms(0, 0, 0)] * 3) is None
    assert leading([Terms(9, 1, 0), Terms(0, 1, 0), Terms(0, 0, 1)]) is None
    assert leading([Terms(2, 1, 0), Terms(2, 1, 0), Terms(0, 0, 1)]) == "head"


def test_what_theory_leaves_open_is_named():
    assert set(OPEN) == {"C'", "ρ", "ν_Φ", "ν_F"}
