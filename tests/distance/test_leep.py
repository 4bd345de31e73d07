"""LEEP against its definition written out in loops, and the laws it keeps."""

import math

import numpy as np
import pytest
import torch

from tawt.distance.leep import leep
from tawt.errors import DataError


def drawn(examples=40, sources=5, *, classes=3, seed=0, spread=1.0):
    """Probabilities around class means, and labels of which all classes occur."""
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.arange(examples) % classes)
    means = generator.normal(size=(classes, sources)) * spread
    logits = means[labels] + generator.normal(size=(examples, sources))
    return torch.tensor(logits).softmax(dim=-1).numpy(), labels


def leep_by_hand(probabilities, labels):
    examples, sources = probabilities.shape
    joint = {(y, z): 0.0 for y in set(labels) for z in range(sources)}
    for row, y in zip(probabilities, labels, strict=True):
        for z in range(sources):
            joint[y, z] += row[z] / examples
    total = 0.0
    for row, y in zip(probabilities, labels, strict=True):
        expected = 0.0
        for z in range(sources):
            marginal = sum(joint[other, z] for other in set(labels))
            expected += joint[y, z] / marginal * row[z] if marginal else 0.0
        total += math.log(expected)
    return total / examples


@pytest.mark.parametrize("sources", [1, 2, 6])
def test_it_is_its_definition(sources):
    probabilities, labels = drawn(25, sources)
    expected = leep_by_hand(probabilities, labels.tolist())
    assert leep(probabilities, labels) == pytest.approx(expected, rel=1e-12)


def test_a_source_class_that_never_occurs_adds_nothing():
    probabilities = np.array([[0.2, 0.8, 0.0], [0.9, 0.1, 0.0], [0.5, 0.5, 0.0]])
    expected = leep_by_hand(probabilities, [4, 2, 4])
    assert leep(probabilities, [4, 2, 4]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sources", [1, 2, 6])
def test_of_certain_predictions_it_is_the_conditional_entropy(sources):
    """−H(Y | Z), which is known as NCE."""
    found, labels = np.random.default_rng(0).integers(sources, size=30), np.arange(30) % 4
    pairs = list(zip(found.tolist(), labels.tolist(), strict=True))
    shares = [pairs.count(pair) / found.tolist().count(pair[0]) for pair in pairs]
    expected = sum(map(math.log, shares)) / len(shares)
    assert leep(np.eye(sources)[found], labels) == pytest.approx(expected, rel=1e-12)


def test_half_precision_does_not_show():
    exact, labels = drawn(500, 50, seed=4)
    rounded = torch.tensor(exact).to(torch.bfloat16)
    assert leep(rounded, labels) == pytest.approx(leep(exact, labels), abs=1e-3)


def test_order_of_examples_and_names_of_labels_do_not_matter():
    probabilities, labels = drawn(seed=11)
    expected = leep(probabilities, labels)
    order = np.random.default_rng(0).permutation(len(labels))
    names = np.array(["verb", "noun", "a"])[labels]
    numbers = torch.tensor([-7, 10**6, 3])[torch.tensor(labels)]
    assert leep(probabilities[order], labels[order]) == pytest.approx(expected, rel=1e-9)
    for same in (names, names.tolist(), numbers, labels.astype(float)):
        assert leep(probabilities, same) == pytest.approx(expected, rel=1e-9)


def test_predictions_of_the_classes_score_above_shuffled_labels():
    probabilities, labels = drawn(120, 6, seed=15, spread=3.0)
    good = leep(probabilities, labels)
    for seed in range(10):
        shuffled = np.random.default_rng(seed).permutation(labels)
        assert good > leep(probabilities, shuffled)


def test_few_examples_and_labels_that_occur_once_give_numbers():
    probabilities, _ = drawn(30, 4, seed=16)
    for labels in (np.arange(30), np.arange(30) // 29, np.minimum(np.arange(30), 4)):
        assert math.isfinite(leep(probabilities, labels))
    assert math.isfinite(leep(probabilities[:2], [0, 1]))


@pytest.mark.parametrize(
    ("probabilities", "labels", "message"),
    [
        ([[2.0, -1.0], [0.0, 1.0]], [0, 1], "softmax"),
        ([[0.7, 0.7], [0.0, 1.0]], [0, 1], "softmax"),
        ([[0.5, math.nan], [0.0, 1.0]], [0, 1], "a row of finite numbers"),
        ([1.0, 1.0], [0, 1], r"a row of finite numbers .* got shape \(2,\)"),
        ([[0.5, 0.5], [0.0, 1.0]], [1, 1], "at least two classes"),
        ([[0.5, 0.5], [0.0, 1.0]], [1, 2, 3], r"each of the 2 examples; got shape \(3,\)"),
        ([[0.5, 0.5], [0.0, 1.0]], [0.5, 1.0], "must be classes"),
        ([[0.5, 0.5], [0.0, 1.0]], [math.nan, 1.0], "must be classes"),
    ],
)
def test_what_is_refused(probabilities, labels, message):
    with pytest.raises(DataError, match=message):
        leep(probabilities, labels)
