"""Tasks, their losses and scores against hand-worked numbers, and the model they share."""

import math

import numpy as np
import pytest
import torch
from sklearn import metrics
from torch import nn

from tawt.arrays import Classification, Regression
from tawt.errors import DataError
from tawt.tasks import Batch, Examples, MultiTaskModel, Task
from tawt.tasks.examples import Subset

DOUBLE = {"dtype": torch.float64}


class Rows(Examples):
    """Example i has inputs i and label 10 · i."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def batch(self, indices):
        chosen = torch.as_tensor(np.arange(self.size)[indices])
        return Batch(chosen, 10 * chosen)


# The model

ODD = ["a.b", "train", "keys", "", "forward", "ünï côde/slash", "0", "_modules"]


@pytest.mark.parametrize("name", ODD)
def test_a_head_may_have_any_name(name):
    torch.manual_seed(0)
    heads = {task: nn.Linear(2, 1 + number) for number, task in enumerate(ODD)}
    model = MultiTaskModel(nn.Linear(4, 2), heads)
    inputs = torch.randn(3, 4)
    expected = heads[name](model.representation(inputs))
    assert torch.equal(model(inputs, name), expected)
    assert model.heads[name] is heads[name]


def test_heads_are_trained_saved_and_counted_with_the_model():
    heads = {name: nn.Linear(2, 3) for name in ODD}
    model = MultiTaskModel(nn.Linear(4, 2), heads)
    inside = {id(parameter) for parameter in model.parameters()}
    assert {id(p) for head in heads.values() for p in head.parameters()} < inside
    assert list(model.heads) == ODD
    assert len(model.heads) == len(ODD)

    other = MultiTaskModel(nn.Linear(4, 2), {name: nn.Linear(2, 3) for name in ODD})
    other.load_state_dict(model.state_dict())
    inputs = torch.randn(3, 4)
    for name in ODD:
        assert torch.equal(model(inputs, name), other(inputs, name))
    model.eval()
    assert not any(module.training for module in model.modules())


def test_an_unknown_head_is_refused_with_the_nearest_name():
    model = MultiTaskModel(nn.Linear(4, 2), {"digits": nn.Linear(2, 3), "parity": nn.Linear(2, 2)})
    with pytest.raises(DataError, match=r"no head for task 'digit'; did you mean 'digits'\?"):
        model(torch.zeros(1, 4), "digit")
    with pytest.raises(DataError, match="no head for task 'weather'; known: digits, parity"):
        model.heads["weather"]


def test_each_task_gets_the_head_its_kind_wants():
    tasks = [
        Task("digits", Classification(tuple("0123456789")), Rows(3)),
        Task("height", Regression(), Rows(3)),
    ]
    model = MultiTaskModel.for_tasks(nn.Linear(4, 6), tasks, width=6)
    assert model(torch.zeros(5, 4), "digits").shape == (5, 10)
    assert model(torch.zeros(5, 4), "height").shape == (5, 1)


# Classification


def test_classification_losses_by_hand():
    kind = Classification(("no", "yes", "maybe"))
    outputs = torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], **DOUBLE)
    total = math.exp(1) + math.exp(2) + math.exp(3)
    expected = [math.log(total) - 2, math.log(3)]
    assert kind.losses(outputs, torch.tensor([1, 2])).tolist() == pytest.approx(expected)


def test_classification_answers_are_labels():
    kind = Classification(("no", "yes", "maybe"))
    outputs = torch.tensor([[1.0, 2.0, 3.0], [9.0, 0.0, 0.0]])
    assert kind.answers(outputs, torch.tensor([1, 0])) == (["yes", "no"], ["maybe", "no"])


def test_classification_scores_by_hand():
    gold, predicted = ["a", "a", "a", "b"], ["a", "a", "b", "b"]
    scores = Classification(("a", "b")).scores(gold, predicted)
    assert scores["accuracy"] == 0.75
    # a: precision 1, recall 2/3, F1 4/5; b: precision 1/2, recall 1, F1 2/3.
    assert scores["macro_f1"] == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert Classification(("a", "b")).example_scores(gold, predicted) == [1.0, 1.0, 0.0, 1.0]


def test_classification_scores_are_scikit_learns():
    rng = np.random.default_rng(0)
    labels = ("a", "b", "c", "d")
    gold, predicted = (rng.choice(labels[:3], 50).tolist() for _ in range(2))
    scores = Classification(labels).scores(gold, predicted)
    assert scores["accuracy"] == pytest.approx(metrics.accuracy_score(gold, predicted))
    # A label that never occurs is no class of this split: it does not pull the mean down.
    per_label = metrics.f1_score(gold, predicted, average=None, labels=["a", "b", "c"])
    assert scores["macro_f1"] == pytest.approx(per_label.mean())


@pytest.mark.parametrize(
    ("gold", "predicted", "accuracy"),
    [(["a"], ["a"], 1.0), (["a"], ["b"], 0.0), (["a"] * 3, ["a", "a", "b"], 2 / 3)],
)
def test_a_split_with_one_class_is_scored_without_a_warning(gold, predicted, accuracy):
    assert Classification(("a", "b")).scores(gold, predicted)["accuracy"] == pytest.approx(accuracy)


def test_classification_needs_labels():
    with pytest.raises(DataError, match="at least one label"):
        Classification(())


@pytest.mark.parametrize("kind", [Classification(("a", "b")), Regression()])
def test_the_metric_that_counts_is_among_the_scores(kind):
    gold = ["a", "b"] if isinstance(kind, Classification) else [1.0, 2.0]
    assert kind.scores(gold, gold)[kind.metric] == 1.0


# Regression


def test_regression_losses_by_hand():
    outputs = torch.tensor([[1.0], [2.0], [-1.0]], **DOUBLE)
    labels = torch.tensor([0.5, 2.0, 2.0], **DOUBLE)
    losses = Regression().losses(outputs, labels)
    assert losses.shape == (3,)
    assert losses.tolist() == pytest.approx([0.25, 0.0, 9.0])


def test_regression_of_one_example_keeps_its_shape():
    assert Regression().losses(torch.tensor([[3.0]]), torch.tensor([1.0])).tolist() == [4.0]
    assert Regression().answers(torch.tensor([[3.0]]), torch.tensor([1.0])) == ([1.0], [3.0])


def test_regression_answers_of_half_precision_are_plain_numbers():
    outputs = torch.tensor([[0.5], [-2.0]], dtype=torch.bfloat16)
    assert Regression().answers(outputs, torch.tensor([1.0, 2.0])) == ([1.0, 2.0], [0.5, -2.0])


def test_regression_scores_by_hand():
    scores = Regression().scores([1.0, 2.0, 3.0], [1.0, 2.0, 5.0])
    # Spread of the gold values is 2; the only error is 2, squared 4.
    assert scores == pytest.approx({"r2": 1 - 4 / 2, "mse": 4 / 3, "mae": 2 / 3})
    assert Regression().example_scores([1.0, 3.0], [1.0, 5.0]) == [0.0, -4.0]


def test_regression_scores_are_scikit_learns():
    rng = np.random.default_rng(0)
    gold, predicted = rng.normal(3, 2, 40).tolist(), rng.normal(3, 2, 40).tolist()
    scores = Regression().scores(gold, predicted)
    assert scores["r2"] == pytest.approx(metrics.r2_score(gold, predicted))
    assert scores["mse"] == pytest.approx(metrics.mean_squared_error(gold, predicted))
    assert scores["mae"] == pytest.approx(metrics.mean_absolute_error(gold, predicted))


def test_one_gold_value_has_no_variance_to_explain():
    scores = Regression().scores([2.0], [5.0])
    assert scores == {"r2": 0.0, "mse": 9.0, "mae": 3.0}


# Tasks and their examples


def test_a_subset_is_the_chosen_rows_in_the_chosen_order():
    subset = Subset(Rows(10), np.array([7, 2, 5]))
    assert len(subset) == 3
    batch = subset.batch(np.array([2, 0, 0]))
    assert batch.inputs.tolist() == [5, 7, 7]
    assert batch.labels.tolist() == [50, 70, 70]


def test_a_subset_of_a_subset():
    outer = Subset(Subset(Rows(10), np.array([7, 2, 5])), np.array([2, 1]))
    assert len(outer) == 2
    assert outer.batch(np.array([0, 1])).inputs.tolist() == [5, 2]


def test_a_subset_refuses_a_position_it_does_not_have():
    with pytest.raises(IndexError):
        Subset(Rows(10), np.array([7, 2, 5])).batch(np.array([3]))


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_an_empty_split_is_refused(split):
    splits = {"train": Rows(3), "dev": Rows(3), "test": Rows(3), split: Rows(0)}
    with pytest.raises(DataError, match=f"Task 'ner' has no {split} examples"):
        Task("ner", Regression(), **splits)


def test_an_empty_subset_is_an_empty_split():
    with pytest.raises(DataError, match="has no train examples"):
        Task("ner", Regression(), Subset(Rows(3), np.array([], dtype=np.int64)))


def test_splits_may_be_left_out():
    task = Task("ner", Regression(), Rows(1))
    assert (task.dev, task.test) == (None, None)


@pytest.mark.parametrize("name", ["", "two\nlines", "bell\a"])
def test_a_name_that_cannot_be_printed_is_refused(name):
    with pytest.raises(DataError, match="printable name"):
        Task(name, Regression(), Rows(1))
