"""Scores of each label, against scikit-learn, and of every kind of task that has labels."""

from dataclasses import astuple

import numpy as np
import pytest
from sklearn import metrics

from tawt.arrays import Classification, Regression
from tawt.tasks.label_scores import label_scores
from tawt.text.kinds import Tagging, TextClassification, TextRegression


@pytest.mark.parametrize("seed", range(5))
def test_they_are_scikit_learns(seed):
    draw = np.random.default_rng(seed)
    gold = draw.choice(["a", "b", "c", "d"], 30, p=[0.6, 0.3, 0.1, 0.0]).tolist()
    predicted = draw.choice(["a", "b", "c", "d"], 30, p=[0.5, 0.0, 0.3, 0.2]).tolist()
    found = label_scores(gold, predicted)
    assert list(found) == sorted({*gold, *predicted})
    expected = metrics.precision_recall_fscore_support(
        gold, predicted, labels=list(found), zero_division=0
    )
    for score, *values in zip(found.values(), *expected, strict=True):
        assert astuple(score) == pytest.approx(tuple(values))


@pytest.mark.parametrize("kind", [Classification, TextClassification])
def test_a_classification_has_those_of_its_labels(kind):
    found = kind(("a", "b")).label_scores(["a", "a", "b"], ["a", "b", "b"])
    assert {label: score.support for label, score in found.items()} == {"a": 2, "b": 1}
    assert found["b"].precision == 0.5


def test_tags_that_mark_spans_have_those_of_whole_spans():
    gold, predicted = [["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "O", "O", "B-LOC"]]
    kind = Tagging(("B-PER", "I-PER", "B-LOC", "O"), "span_f1")
    found = kind.label_scores(gold, predicted)
    assert {label: (score.f1, score.support) for label, score in found.items()} == {
        "LOC": (1.0, 1),
        "PER": (0.0, 1),
    }


@pytest.mark.parametrize(("metric", "f1"), [("span_f1", 0.0), ("span_f1_conlleval", 1.0)])
def test_spans_are_read_as_the_metric_reads_them(metric, f1):
    """A span that begins with I- is one to conlleval alone."""
    kind = Tagging(("B-X", "I-X", "O"), metric)
    assert kind.label_scores([["B-X", "I-X"]], [["I-X", "I-X"]])["X"].f1 == f1


def test_other_tags_have_those_of_words():
    found = Tagging(("DT", "NN")).label_scores([["DT", "NN"], ["NN"]], [["DT", "DT"], ["NN"]])
    assert found["NN"].recall == 0.5
    assert found["DT"].precision == 0.5


@pytest.mark.parametrize("kind", [Regression(), TextRegression()])
def test_numbers_have_none(kind):
    assert kind.label_scores([1.0, 2.0], [1.0, 3.0]) == {}
