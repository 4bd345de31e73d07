"""Tasks on scikit-learn's scanned digits: a small target, and sources good and bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field
from sklearn.datasets import load_digits

from tawt.arrays import classification
from tawt.arrays.modality import ArrayModality
from tawt.errors import DataError
from tawt.modality import DataSection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tawt.tasks import Task

TARGET = "digit"

_TEST, _DEV, _MOST = 600, 100, 400  # of 1797 images
_GROUPINGS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    # The group of each digit from 0 to 9, and the groups' names.
    "parity": ((0, 1, 0, 1, 0, 1, 0, 1, 0, 1), ("even", "odd")),
    "magnitude": ((0, 0, 0, 1, 1, 1, 2, 2, 2, 2), ("low", "middle", "high")),
    "shape": ((0, 1, 2, 2, 1, 2, 0, 1, 0, 0), ("round", "straight", "mixed")),
}

DIGITS_TASKS = (TARGET, *_GROUPINGS, "shuffled", "coins", "dice", "noise")
"""Names of the tasks, the target first."""


def digits_tasks(*, target_size: int = 40, seed: int = 0) -> list[Task]:
    """The target, three helpful sources, and four that are none.

    The target is to tell the ten digits apart from `target_size` examples, the same number of
    each. Sources see other images: "parity", "magnitude" and "shape" group the digits by what
    a reader of digits must see too; "shuffled" has the digits' own labels in random order;
    "coins" and "dice" have labels that were thrown, of two and of six kinds; "noise" asks
    which half of a picture of random dots is brighter.

    Args:
        target_size: Labelled examples of the target, at least ten.
        seed: Which images are drawn for whom. The test images are always the same.

    Example:
        >>> tasks = digits_tasks(target_size=40)
        >>> [(task.name, len(task.train)) for task in tasks][:2]
        [('digit', 40), ('parity', 1057)]
    """
    images, labels = _images()
    draw = np.random.default_rng(seed)
    order = np.random.default_rng(20220425).permutation(len(images))  # one split for all seeds
    test, rest = order[:_TEST], order[_TEST:]
    rest = draw.permutation(rest)
    dev, rest = rest[:_DEV], rest[_DEV:]
    own = _balanced(labels, rest, target_size)
    other = rest[~np.isin(rest, own)]

    def split(chosen: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        return images[chosen], labels[chosen]

    target = classification(TARGET, train=split(own), dev=split(dev), test=split(test))
    groupings = [
        classification(name, train=(images[other], np.asarray(group)[labels[other]]), labels=names)
        for name, (group, names) in _GROUPINGS.items()
    ]
    return [target, *groupings, *_useless(images[other], labels[other], draw)]


def _useless(images: NDArray[Any], labels: NDArray[Any], draw: np.random.Generator) -> list[Task]:
    count = len(images)
    noise = draw.random(images.shape)
    left = noise[:, :, :4].sum((1, 2)) > noise[:, :, 4:].sum((1, 2))
    return [
        classification("shuffled", train=(images, draw.permutation(labels))),
        classification(
            "coins", train=(images, draw.integers(0, 2, count)), labels=("heads", "tails")
        ),
        classification("dice", train=(images, draw.integers(0, 6, count))),
        classification("noise", train=(noise, left.astype(int)), labels=("right", "left")),
    ]


def _balanced(labels: NDArray[Any], pool: NDArray[Any], size: int) -> NDArray[Any]:
    """The first images of the pool with as many of each digit as there can be."""
    if not 10 <= size <= _MOST:
        raise DataError(f"The digits target takes 10 to 400 examples; got {size}.")
    ranks = np.empty(len(pool), dtype=np.int64)
    for digit in range(10):
        of_digit = np.flatnonzero(labels[pool] == digit)
        ranks[of_digit] = np.arange(len(of_digit))
    chosen: NDArray[Any] = pool[np.argsort(ranks, kind="stable")[:size]]
    return chosen


def _images() -> tuple[NDArray[Any], NDArray[Any]]:
    bunch = load_digits()
    return bunch.images.astype(np.float32) / 16, bunch.target.astype(np.int64)


class DigitsData(DataSection):
    """scikit-learn's scanned digits, with sources good and bad."""

    kind: Literal["digits"]
    target_size: int = Field(30, ge=10, le=_MOST)
    """Labelled examples of the target."""


class Digits(ArrayModality[DigitsData]):
    """The digits as a kind of data."""

    name = "digits"
    data_section = DigitsData

    def task_names(self, data: DigitsData) -> list[str]:
        """The target first."""
        del data
        return list(DIGITS_TASKS)

    def read(self, data: DigitsData, names: Sequence[str], *, seed: int) -> list[Task]:
        """The tasks of these names."""
        found = {t.name: t for t in digits_tasks(target_size=data.target_size, seed=seed)}
        return [found[name] for name in names]

    def whole(self, data: DigitsData, target: str) -> DigitsData:
        """All images that the target can have labelled."""
        del target
        return data.model_copy(update={"target_size": _MOST})


DIGITS = Digits()
