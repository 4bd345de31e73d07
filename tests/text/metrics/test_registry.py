import random

import pytest
from sklearn import metrics as sklearn

from tawt.arrays import Regression
from tawt.errors import ConfigError
from tawt.text.metrics import METRICS, mae, metric, mse, r2

NAMES = [(kind, name) for kind, known in METRICS.items() for name in known]
GOLD = {
    "tagging": [["B-V", "O"], ["O", "B-X", "I-X"]],
    "classification": ["0", "1", "1", "0"],
    "regression": [1.0, 2.0, 4.0, 3.0],
}
WRONG = {
    "tagging": [["O", "O"], ["O", "B-X", "O"]],
    "classification": ["0", "1", "0", "0"],
    "regression": [1.0, 4.0, 2.0, 3.0],
}


def test_the_names_that_configurations_may_use():
    assert {kind: list(known) for kind, known in METRICS.items()} == {
        "tagging": ["accuracy", "span_f1", "span_f1_conlleval", "token_f1", "macro_f1"],
        "classification": ["accuracy", "macro_f1", "matthews", "positive_f1"],
        "regression": ["pearson", "spearman", "r2", "mse", "mae"],
    }


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_every_metric_is_best_where_all_is_right(kind, name):
    found = metric(name, kind=kind)
    perfect = found.score(GOLD[kind], GOLD[kind])
    assert isinstance(perfect, float)
    assert perfect == pytest.approx(1.0 if found.best == "largest" else 0.0)
    worse = found.score(GOLD[kind], WRONG[kind])
    assert worse < perfect if found.best == "largest" else worse > perfect


def test_the_span_metrics_differ_in_their_reading():
    gold, predicted = [["B-X", "I-X"]], [["I-X", "I-X"]]
    assert metric("span_f1", kind="tagging").score(gold, predicted) == 0
    assert metric("span_f1_conlleval", kind="tagging").score(gold, predicted) == 1


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="No metric 'span-f1' for tagging; did you mean 'span_f1"):
        metric("span-f1", kind="tagging")


def test_distances_by_hand_and_as_elsewhere():
    # Errors 0, −1, 2: squares 0, 1, 4; gold deviates by −2, 0, 2: squares 4, 0, 4.
    gold, predicted = [1.0, 3.0, 5.0], [1.0, 4.0, 3.0]
    assert mse(gold, predicted) == pytest.approx(5 / 3)
    assert mae(gold, predicted) == pytest.approx(1)
    assert r2(gold, predicted) == pytest.approx(1 - 5 / 8)
    draw = random.Random(0)
    gold, predicted = [[draw.gauss(0, 1) for _ in range(50)] for _ in range(2)]
    ours = {"r2": r2(gold, predicted), "mse": mse(gold, predicted), "mae": mae(gold, predicted)}
    assert ours == pytest.approx(Regression().scores(gold, predicted))
    assert ours["r2"] == pytest.approx(sklearn.r2_score(gold, predicted))
    assert r2([0.1] * 3, [0.1] * 3) == 0
