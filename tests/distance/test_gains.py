"""Gains: intervals that cover as often as they say, and verdicts at their borders."""

import math

import numpy as np
import pytest
from scipy import stats

from tawt.distance import Gain, gain_of
from tawt.distance.gains import MARGIN
from tawt.errors import DataError


def drawn(draw, *, gain, seeds, examples, between_seeds, between_examples, noise=0.0):
    """Scores with a source and without, where the source adds a gain to every example.

    How much it adds depends on the seed and on the example; both are drawn anew.
    """
    by_seed = between_seeds * draw.normal(size=(seeds, 1))
    by_example = between_examples * draw.normal(size=(1, examples))
    without = draw.normal(size=(seeds, examples))
    ours = without + gain + by_seed + by_example + noise * draw.normal(size=(seeds, examples))
    return ours.mean(1).tolist(), without.mean(1).tolist(), ours, without


def coverage(*, draws=1500, **given):
    draw = np.random.default_rng(0)
    hits = 0
    for _ in range(draws):
        low, high = gain_of(*drawn(draw, gain=0.3, **given)).interval
        hits += low <= 0.3 <= high
    return hits / draws


@pytest.mark.parametrize(
    ("between_seeds", "between_examples"), [(0.1, 0.0), (0.0, 1.0), (0.1, 0.5), (0.02, 1.0)]
)
@pytest.mark.parametrize("seeds", [2, 3, 8])
def test_ninety_five_of_a_hundred_intervals_hold_the_gain(seeds, between_seeds, between_examples):
    """Over other seeds and other examples; a share of 1500 draws has a standard error of 0.6%."""
    found = coverage(
        seeds=seeds, examples=60, between_seeds=between_seeds, between_examples=between_examples
    )
    assert 0.925 <= found <= 0.985


def test_either_source_of_chance_alone_would_not_be_enough():
    """The test above can fail: intervals for the same examples, or the same seeds, hold less."""
    draw = np.random.default_rng(0)
    hits = np.zeros(2)
    for _ in range(500):
        scores, without, ours, theirs = drawn(
            draw, gain=0.3, seeds=4, examples=60, between_seeds=0.15, between_examples=1.0
        )
        gains, gaps = np.subtract(scores, without), (ours - theirs).mean(0)
        for place, values in enumerate((gains, gaps)):
            low, high = stats.t.interval(
                0.95, len(values) - 1, loc=values.mean(), scale=stats.sem(values)
            )
            hits[place] += low <= 0.3 <= high
    assert (hits / 500 < 0.91).all()


def test_noise_of_single_answers_makes_no_interval_too_short():
    found = coverage(seeds=3, examples=60, between_seeds=0.1, between_examples=0.5, noise=1.0)
    assert 0.94 <= found <= 1.0


def test_right_and_wrong_answers_are_covered_too():
    """Accuracies of two models of every seed, which agree on most examples."""
    draw = np.random.default_rng(1)
    hits, draws = 0, 1000
    for _ in range(draws):
        hard = draw.random(80)
        lift = 0.1 + 0.05 * draw.normal(size=(3, 1))
        luck = draw.random((3, 80))
        without, ours = (luck + hard < 1.1), (luck + hard < 1.1 + lift)
        scores, others = ours.mean(1).tolist(), without.mean(1).tolist()
        low, high = gain_of(scores, others, ours, without).interval
        hits += low <= _true_lift() <= high
    assert hits / draws >= 0.93


def _true_lift():
    """E P(u + h < 1.1 + l) − P(u + h < 1.1) for u, h uniform, l normal (0.1, 0.05)."""
    lifts = stats.norm.ppf((np.arange(2000) + 0.5) / 2000, 0.1, 0.05)
    return float(np.mean(_below(1.1 + lifts)) - _below(np.array(1.1)))


def _below(level):
    """P(u + h < level), for a level between 1 and 2."""
    return np.where(level >= 1, 1 - (2 - level) ** 2 / 2, level**2 / 2)


def test_the_interval_is_by_hand():
    ours, theirs = [[1, 1, 1], [1, 1, 0]], [[0, 1, 0], [0, 1, 0]]
    found = gain_of([0.9, 0.8], [0.5, 0.5], ours, theirs)
    gaps = np.array([1, 0, 0.5])  # of each example, over seeds
    by_example, by_seed = gaps.var(ddof=1) / 3, np.var([0.4, 0.3], ddof=1) / 2
    freedom = (by_example + by_seed) ** 2 / (by_example**2 / 2 + by_seed**2 / 1)
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(by_example + by_seed)
    assert found.values == pytest.approx([0.4, 0.3])
    assert found.mean == pytest.approx(0.35)
    assert found.interval == pytest.approx((0.35 - reach, 0.35 + reach))


def test_one_seed_tells_of_its_examples_only_and_is_never_enough():
    ours, theirs = [[1, 1, 1, 0] * 20], [[0, 1, 0, 0] * 20]
    found = gain_of([0.75], [0.25], ours, theirs)
    assert found.interval == pytest.approx(
        stats.t.interval(0.95, 79, loc=0.5, scale=stats.sem([1, 0, 1, 0] * 20))
    )
    assert (found.verdict, found.recommendation) == ("helps", "not enough evidence")


@pytest.mark.parametrize(("count", "said"), [(2, "not enough evidence"), (1000, "skip")])
def test_the_same_answers_are_no_gain_as_far_as_so_many_can_tell(count, said):
    same = [[1] * count] * 2
    found = gain_of([0.5, 0.5], [0.5, 0.5], same, same)
    assert (found.mean, found.verdict, found.recommendation) == (0, "neutral", said)


def test_two_examples_that_agree_prove_nothing():
    found = gain_of([1.0, 1.0], [0.0, 0.0], [[1, 1]] * 2, [[0, 0]] * 2)
    assert found.recommendation == "not enough evidence"
    assert gain_of([1.0], [0.0], [[1.0]], [[0.0]]).verdict == "neutral"


@pytest.mark.parametrize(
    ("interval", "verdict", "recommendation"),
    [
        ((1e-9, 0.5), "helps", "use"),
        ((0.0, 0.5), "neutral", "not enough evidence"),
        ((0.0, MARGIN), "neutral", "skip"),
        ((-MARGIN, MARGIN), "neutral", "skip"),
        ((-MARGIN - 1e-9, MARGIN), "neutral", "not enough evidence"),
        ((-MARGIN, MARGIN + 1e-9), "neutral", "not enough evidence"),
        ((-0.5, 0.0), "neutral", "not enough evidence"),
        ((-0.5, -1e-9), "hurts", "skip"),
        ((-0.5, 0.5), "neutral", "not enough evidence"),
        ((1e-9, 2e-9), "helps", "use"),
    ],
)
def test_verdicts_at_their_borders(interval, verdict, recommendation):
    gain = Gain([0.0, 0.0], interval)
    assert (gain.verdict, gain.recommendation) == (verdict, recommendation)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ([[1, 0]], [[1, 0, 1]]),  # other examples
        ([[1, 0], [1, 0]], [[1, 0]]),  # other seeds
        ([1, 0], [1, 0]),  # no seeds
        ([[1, 0], [1, 0]], [[1, 0], [1, 0]]),  # more seeds than scores
    ],
)
def test_scores_that_cannot_be_paired_are_refused(ours, theirs):
    with pytest.raises(DataError, match="same held-out examples"):
        gain_of([0.5], [0.5], ours, theirs)
