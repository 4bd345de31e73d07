"""What single examples say of a score, where that is known."""

import numpy as np
import pytest
from scipy import stats

from tawt.distance.jackknife import pseudo_values


def test_of_a_mean_they_are_the_examples():
    gold, predicted = np.arange(7), np.array([0, 1, 9, 3, 9, 9, 6])
    found = pseudo_values(lambda a, b: float(np.mean(np.equal(a, b))), gold, predicted)
    assert found == pytest.approx((gold == predicted).astype(float).tolist())


def test_many_examples_are_taken_in_groups():
    values = np.random.default_rng(0).normal(size=1000)
    found = pseudo_values(lambda a, _: float(np.mean(a)), values, values)
    assert len(found) == 200
    assert found == pytest.approx(values.reshape(200, 5).mean(1).tolist())


def test_the_spread_is_that_of_a_correlation_over_other_examples():
    """Against the standard deviation of the score itself over samples drawn anew."""
    draw = np.random.default_rng(0)

    def sample():
        x = draw.normal(size=150)
        return x, 0.7 * x + draw.normal(size=150)

    def score(gold, predicted):
        return float(stats.pearsonr(gold, predicted).statistic)

    true = np.std([score(*sample()) for _ in range(500)])
    errors = [stats.sem(pseudo_values(score, *sample())) for _ in range(20)]
    assert np.mean(errors) == pytest.approx(true, rel=0.15)


def test_a_score_that_is_none_without_an_example_counts_as_unchanged():
    found = pseudo_values(lambda a, _: 0.5 if len(a) == 3 else None, [1, 2, 3], [1, 2, 3])
    assert found == pytest.approx([0.5, 0.5, 0.5])


def test_one_example_has_nothing_to_be_compared_with():
    assert pseudo_values(lambda a, b: 1.0, [1], [1]) == [1.0]
