"""Tasks from arrays: what is refused, and the digits that no two roles share."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from tawt.arrays import MLP, ArrayExamples, SmallCNN, classification, regression
from tawt.demos.digits import digits_tasks
from tawt.errors import ConfigError, DataError

X, Y = np.eye(4), np.array([0, 1, 2, 1])


# What is kept


def test_rows_come_back_in_the_order_asked_for():
    examples = ArrayExamples(np.arange(12).reshape(4, 3), np.array([5, 6, 7, 8]))
    batch = examples.batch(np.array([3, 0, 3]))
    assert batch.inputs.tolist() == [[9.0, 10.0, 11.0], [0.0, 1.0, 2.0], [9.0, 10.0, 11.0]]
    assert batch.inputs.dtype == torch.float32
    assert batch.labels.tolist() == [8, 5, 8]
    assert len(examples) == 4


def test_splits_go_where_they_belong():
    task = classification("t", train=(X, Y), dev=(X[:2], Y[:2]), test=(X[:3], Y[:3]))
    assert [len(task.train), len(task.dev), len(task.test)] == [4, 2, 3]
    assert classification("t", train=(X, Y)).dev is None
    assert regression("t", train=(X, Y), test=(X, Y)).dev is None


def test_label_names_default_to_the_largest_number_in_any_split():
    task = classification("t", train=(X, Y), test=(X, [0, 4, 1, 1]))
    assert task.kind.labels == ("0", "1", "2", "3", "4")


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, np.uint8, np.uint32])
def test_any_integers_are_labels(dtype):
    task = classification("t", train=(X, Y.astype(dtype)))
    assert task.train.batch(np.arange(4)).labels.tolist() == Y.tolist()
    assert task.train.labels.dtype == torch.int64


def test_numbers_to_predict_may_be_integers():
    task = regression("t", train=(X, Y))
    assert task.train.labels.dtype == torch.float32
    assert task.train.labels.tolist() == Y.tolist()


def test_views_lists_and_images_are_taken():
    images = np.arange(4 * 3 * 5 * 5).reshape(4, 3, 5, 5)[:, :, ::-1, ::2]
    task = classification("t", train=(images, Y[::-1]))
    assert task.train.inputs.shape == (4, 3, 5, 3)
    np.testing.assert_array_equal(task.train.inputs.numpy(), images)
    assert task.train.labels.tolist() == [1, 2, 1, 0]
    assert len(classification("t", train=([[1, 2], [3, 4]], [0, 1])).train) == 2


# What is refused

BAD = {
    "one label short": (X, Y[:3]),
    "flat inputs": (np.arange(4.0), Y),
    "a number": (np.float64(1.0), Y),
    "labels with two axes": (X, Y[:, None]),
    "no rows": (X[:0], Y[:0]),
    "NaN": (np.where(X > 0, np.nan, X), Y),
    "infinity": (np.where(X > 0, np.inf, X), Y),
    "too large for float32": (X * 1e39, Y),
    "words for inputs": (np.array([["a", "b"]] * 4), Y),
    "words for labels": (X, np.array(["a", "b", "c", "b"])),
    "objects": (np.array([[None, 1]] * 4, dtype=object), Y),
    "ragged rows": ([[1.0], [1.0, 2.0], [1.0], [1.0]], Y),
    "complex numbers": (X * 1j, Y),
}


@pytest.mark.parametrize("make", [classification, regression])
@pytest.mark.parametrize("split", ["train", "dev", "test"])
@pytest.mark.parametrize("bad", list(BAD))
def test_bad_arrays_are_refused_by_task_and_split(bad, split, make):
    splits = {"train": (X, Y)} | {split: BAD[bad]}
    with pytest.raises(DataError, match=r"'colours'.*" + split):
        make("colours", **splits)


@pytest.mark.parametrize("answers", [[0, 1, 2, 3], [0, -1, 2, 1]])
def test_labels_out_of_range_are_refused(answers):
    wrong = "3" if 3 in answers else "-1"
    with pytest.raises(DataError, match=rf"'t', dev: label {wrong} is out of range.*0 to 2"):
        classification("t", train=(X, Y), dev=(X, answers), labels=("a", "b", "c"))


def test_negative_labels_are_refused_without_names_too():
    with pytest.raises(DataError, match="label -1 is out of range"):
        classification("t", train=(X, [0, -1, 2, 1]))


@pytest.mark.parametrize("answers", [Y.astype(float), Y + 0.5, Y > 0])
def test_labels_that_are_no_integers_are_refused(answers):
    with pytest.raises(DataError, match=r"'t', train: labels must be (integers|numbers)"):
        classification("t", train=(X, answers))


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e39])
def test_numbers_to_predict_must_be_finite(number):
    with pytest.raises(DataError, match=r"'t', test: labels"):
        regression("t", train=(X, Y), test=(X, [0.0, 1.0, number, 2.0]))


def test_splits_of_other_shapes_are_refused():
    with pytest.raises(DataError, match=r"test inputs have shape \(3,\).*train inputs \(4,\)"):
        classification("t", train=(X, Y), test=(X[:, :3], Y))


# Networks


def test_networks_give_vectors_of_the_width_asked_for():
    assert MLP((2, 3), widths=(5, 7))(torch.randn(4, 2, 3)).shape == (4, 7)
    assert SmallCNN((8, 8), width=6)(torch.randn(4, 8, 8)).shape == (4, 6)
    assert SmallCNN((3, 8, 5), width=6)(torch.randn(4, 3, 8, 5)).shape == (4, 6)


def test_a_cnn_wants_images():
    with pytest.raises(ConfigError, match=r"needs images.*\(7,\)"):
        SmallCNN((7,))


# Digits


@pytest.fixture(scope="module", params=[0, 1, 7])
def digits(request):
    return {task.name: task for task in digits_tasks(target_size=40, seed=request.param)}


def pictures(examples):
    return {row.numpy().tobytes() for row in examples.inputs}


def test_no_image_has_two_roles(digits):
    target = digits["digit"]
    roles = [pictures(target.train), pictures(target.dev), pictures(target.test)]
    assert [len(role) for role in roles] == [40, 100, 600]
    for position, role in enumerate(roles):
        assert not any(role & other for other in roles[position + 1 :])
    held = set.union(*roles)
    for name, task in digits.items():
        if name != "digit":
            assert not pictures(task.train) & held, name
            assert len(task.train) == 1797 - 740


def test_the_target_has_as_many_of_each_digit(digits):
    assert np.bincount(digits["digit"].train.labels).tolist() == [4] * 10


@pytest.mark.parametrize("size", [10, 33, 400])
def test_any_size_is_as_balanced_as_can_be(size):
    counts = np.bincount(digits_tasks(target_size=size)[0].train.labels, minlength=10)
    assert counts.sum() == size
    assert counts.max() - counts.min() <= 1


def test_labels_are_those_of_the_images(digits):
    bunch = load_digits()
    answers = {
        (image / 16).astype(np.float32).tobytes(): int(label)
        for image, label in zip(bunch.images, bunch.target, strict=True)
    }
    for split in ("train", "dev", "test"):
        examples = getattr(digits["digit"], split)
        for row, label in zip(examples.inputs, examples.labels.tolist(), strict=True):
            assert answers[row.numpy().tobytes()] == label
    parity = digits["parity"].train
    for row, label in zip(parity.inputs, parity.labels.tolist(), strict=True):
        assert answers[row.numpy().tobytes()] % 2 == label


def test_useless_sources_have_labels_that_mean_nothing(digits):
    bunch = load_digits()
    answers = {
        (image / 16).astype(np.float32).tobytes(): int(label)
        for image, label in zip(bunch.images, bunch.target, strict=True)
    }
    shuffled = digits["shuffled"].train
    right = [
        answers[row.numpy().tobytes()] == label
        for row, label in zip(shuffled.inputs, shuffled.labels.tolist(), strict=True)
    ]
    assert 0.05 < np.mean(right) < 0.15
    truth = np.array([answers[row.numpy().tobytes()] for row in shuffled.inputs])
    np.testing.assert_array_equal(np.bincount(truth), np.bincount(shuffled.labels))


def test_the_test_split_is_the_same_for_all_seeds():
    first, second = (digits_tasks(seed=seed)[0] for seed in (0, 5))
    assert torch.equal(first.test.inputs, second.test.inputs)
    assert torch.equal(first.test.labels, second.test.labels)
    assert pictures(first.train) != pictures(second.train)
    assert pictures(first.dev) != pictures(second.dev)


def test_the_same_seed_draws_the_same():
    for one, other in zip(digits_tasks(seed=3), digits_tasks(seed=3), strict=True):
        assert torch.equal(one.train.inputs, other.train.inputs)
        assert torch.equal(one.train.labels, other.train.labels)


@pytest.mark.parametrize("size", [9, 401, 0, -1])
def test_sizes_out_of_range_are_refused(size):
    with pytest.raises(DataError, match="10 to 400"):
        digits_tasks(target_size=size)
