"""Classification and regression of whole texts."""

import numpy as np
import pytest
import torch

from tawt.errors import ConfigError, DataError
from tawt.text.kinds import KINDS, Cutting, TaskOptions
from tawt.text.reading import LabelledText, Splits
from tawt.text.reading.report import ReadReport
from tests.text.encoders import letters_tokenizer

CUTTING = Cutting(tokenizer=letters_tokenizer(), max_length=16)


def texts(*labels, second=None):
    return [LabelledText("abc"[: 1 + n % 3], second, label, n) for n, label in enumerate(labels)]


def task(kind, train, dev=None, test=None, **wanted):
    report = ReadReport(sizes={}, duplicates={})
    return KINDS[kind].make(
        "texts", Splits(train, dev, test, report), CUTTING, TaskOptions(**wanted)
    )


@pytest.mark.parametrize("second", [None, "c"])
def test_labels_and_answers(second):
    kind = "classification" if second is None else "pair"
    made = task(kind, texts("no", "yes", "no", second=second))
    assert made.kind.labels == ("no", "yes")
    batch = made.train.batch(np.array([1, 2]))
    assert batch.labels.tolist() == [1, 0]
    outputs = torch.tensor([[0.0, 1.0], [0.0, 1.0]])
    assert made.kind.answers(outputs, batch.labels) == (["yes", "no"], ["yes", "yes"])


def test_labels_that_training_never_saw_are_always_wrong():
    made = task("classification", texts("no", "yes"), test=texts("maybe", "yes"))
    assert made.kind.unseen == ("maybe",)
    batch = made.test.batch(np.arange(2))
    gold, predicted = made.kind.answers(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), batch.labels)
    assert gold == ["maybe", "yes"]
    assert made.kind.scores(gold, predicted)["accuracy"] == 0.5


def test_labels_that_miss_one_are_refused():
    with pytest.raises(DataError, match=r"^Task 'texts' has the label 'yes', which `labels` does"):
        task("classification", texts("no", "yes"), labels=["no"])


def test_a_label_that_is_named_twice_is_refused():
    with pytest.raises(ConfigError, match=r"^Task 'texts': `labels` names 'no' twice; each"):
        task("classification", texts("no", "yes"), labels=["no", "yes", "no"])


def test_the_positive_label():
    kind = task("classification", texts("0", "1"), dev=texts("1", "0"), metric="positive_f1").kind
    assert kind.positive == "1"
    assert kind.scores(["1", "0"], ["1", "1"])["positive_f1"] == pytest.approx(2 / 3)
    with pytest.raises(DataError, match=r"^Task 'texts' has no label '1' to be the positive one"):
        task("classification", texts("no", "yes"), metric="positive_f1")
    with pytest.raises(DataError, match=r"^Task 'texts' has no dev example of the positive label"):
        task("classification", texts("0", "1"), dev=texts("0"), metric="positive_f1")


@pytest.mark.parametrize(
    ("kind", "metric", "message"),
    [
        ("classification", "span_f1", "No metric 'span_f1' for classification"),
        ("pair", "pearson", "No metric 'pearson' for classification"),
        ("regression", "accuracy", "No metric 'accuracy' for regression"),
        ("regression", "mse", "the metric 'mse' is an error"),
    ],
)
def test_metrics_that_a_kind_has_not_are_refused(kind, metric, message):
    labels = texts(1.0, 2.0) if kind == "regression" else texts("a", "b", second="c")
    with pytest.raises(ConfigError, match=rf"^Task 'texts': {message}"):
        task(kind, labels, metric=metric)


def test_a_regression_has_one_output_and_squared_errors():
    made = task("regression", texts(1.0, 2.5, -3.0), metric="spearman")
    assert made.kind.metric == "spearman"
    assert made.kind.head(5).out_features == 1
    batch = made.train.batch(np.array([1, 2]))
    outputs = torch.tensor([[2.0], [-2.0]])
    assert made.kind.losses(outputs, batch.labels).tolist() == [0.25, 1.0]
    assert made.kind.answers(outputs, batch.labels) == ([2.5, -3.0], [2.0, -2.0])
    assert set(made.kind.scores([1.0, 2.0], [1.0, 2.0])) == {
        "pearson",
        "spearman",
        "r2",
        "mse",
        "mae",
    }


def test_the_gold_numbers_of_a_regression_are_those_of_the_file():
    """Not what float32 makes of them; the loss is computed in float32 all the same."""
    numbers = [0.1, 1 / 3, 123456789.0, -2.7]
    made = task("regression", texts(*numbers))
    batch = made.train.batch(np.arange(4))
    outputs = torch.zeros(4, 1)
    assert made.kind.answers(outputs, batch.labels)[0] == numbers
    losses = made.kind.losses(outputs, batch.labels)
    assert losses.dtype == torch.float32
    assert torch.equal(losses, torch.tensor(numbers).square())
