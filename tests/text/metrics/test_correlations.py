import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sklearn

from tawt.text.metrics import matthews, pearson, spearman

labels = st.sampled_from("abc")
labelings = st.lists(st.tuples(labels, labels), min_size=1, max_size=20)
seeds = st.integers(0, 2**32 - 1)


def test_matthews_by_hand():
    gold, predicted = list("1110000000"), list("1101000000")
    # True positives 2, false negatives 1, false positives 1, true negatives 6:
    # (2·6 − 1·1) / √((2+1)(2+1)(6+1)(6+1)) = 11/21.
    assert matthews(gold, predicted) == pytest.approx(11 / 21)


def test_pearson_and_spearman_by_hand():
    # Deviations (−1, 0, 1) and (−2, −1, 3): 5 / √(2 · 14). The order is the same: 1.
    assert pearson([1, 2, 3], [0, 1, 5]) == pytest.approx(5 / math.sqrt(28))
    assert spearman([1, 2, 3], [0, 1, 5]) == pytest.approx(1)
    # Ranks (1, 2, 3) and (1.5, 1.5, 3): deviations (−1, 0, 1), (−½, −½, 1): 1.5 / √(2 · 1.5).
    assert spearman([1, 2, 3], [4, 4, 9]) == pytest.approx(1.5 / math.sqrt(3))


@pytest.mark.filterwarnings("ignore:A single label was found")  # scikit-learn's; ours is quiet
@given(labelings)
def test_matthews_equals_scikit_learn(pairs):
    gold, predicted = [g for g, _ in pairs], [p for _, p in pairs]
    expected = sklearn.matthews_corrcoef(gold, predicted)
    assert matthews(gold, predicted) == pytest.approx(expected, abs=1e-12)
    assert matthews(predicted, gold) == matthews(gold, predicted)


@given(seed=seeds, size=st.integers(2, 30), digits=st.integers(0, 5))
def test_equal_scipy(seed, size, digits):
    draw = np.random.default_rng(seed)
    gold = [0.0, 9.0, *draw.normal(size=size).round(digits).tolist()]
    predicted = [9.0, 0.0, *draw.normal(size=size).round(digits).tolist()]
    assert pearson(gold, predicted) == pytest.approx(stats.pearsonr(gold, predicted).statistic)
    assert spearman(gold, predicted) == pytest.approx(stats.spearmanr(gold, predicted).statistic)
    assert pearson(gold, [3 - 2 * value for value in gold]) == pytest.approx(-1)
    assert spearman(gold, [math.exp(value) for value in gold]) == pytest.approx(1)


@pytest.mark.parametrize("score", [pearson, spearman])
@pytest.mark.parametrize(
    ("gold", "predicted"), [([1, 2], [0.1, 0.1]), ([0.1] * 3, [1, 2, 3]), ([5], [6])]
)
def test_what_does_not_vary_has_no_correlation(score, gold, predicted):
    assert score(gold, predicted) == 0


def test_nearly_constant_predictions_are_scored_quietly():
    assert abs(pearson([1.0, 2.0, 3.0], [1.0, 1.0 + 1e-15, 1.0 + 2e-15])) <= 1


@pytest.mark.parametrize("score", [pearson, spearman])
def test_nan_stays_nan(score):
    assert math.isnan(score([1.0, 2.0, 3.0], [1.0, math.nan, 3.0]))
