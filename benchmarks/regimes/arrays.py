"""Regimes that are small enough to be repeated often: digits, noisy labels, linear teachers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from benchmarks.regimes.parts import Parts
from benchmarks.regimes.problems import Problem
from tawt.arrays import classification
from tawt.arrays.networks import MLP
from tawt.demos.digits import digits_tasks
from tawt.streams import derived_seed
from tawt.tasks import MultiTaskModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tawt.tasks import Task

REPLACED = {"0% replaced": 0.0, "20%": 0.2, "40%": 0.4, "60%": 0.6, "100%": 1.0}
"""The share of a source's or a group's labels that are drawn at random instead."""
REPLACED_ANYWHERE = 0.6
"""The same of a source whose noise is in no groups."""
RIGHT, WRONG = "right labels", "wrong labels"
TEACHERS: dict[str, tuple[float | None, int]] = {
    "0°": (0.0, 200),
    "30°": (30.0, 300),
    "60°": (60.0, 400),
    "90°": (90.0, 400),
    "90°, another": (90.0, 400),
    "coins": (None, 400),
    "coins, others": (None, 300),
}
"""A source's angle to the target's teacher, if it has a teacher, and its examples."""
_HELPFUL = "magnitude"
"""The source of digits that noise is put into."""
_IMAGE, _WIDTHS = (8, 8), (64, 32)
_INPUTS, _HIDDEN, _HELD_OUT = 40, 16, 1000
_FEWEST_HELPFUL = 90.0  # degrees, from which labels say nothing of the target's


def digits(*, examples: int, seed: int) -> Problem:
    """The demonstration's target, three sources that help and four that do not."""
    target, *sources = digits_tasks(target_size=examples, seed=seed)
    useful = tuple(task.name for task in sources[:3])
    return Problem(
        target=target,
        sources=sources,
        worth={task.name: float(task.name in useful) for task in sources},
        picked=useful,
        model=lambda tasks: _network(tasks, _IMAGE, _WIDTHS, seed=seed),
    )


def noisy_labels(*, examples: int, seed: int) -> Problem:
    """Copies of a source that helps digits, with ever more labels replaced at random."""
    whole = digits(examples=examples, seed=seed)
    images, labels = _helpful(whole)
    draw = np.random.default_rng(derived_seed(seed, "noisy labels"))
    sources = [
        classification(name, train=(images, _partly_drawn(labels, share, draw)))
        for name, share in REPLACED.items()
    ]
    worth = {name: 1 - share for name, share in REPLACED.items()}
    return replace(whole, sources=sources, worth=worth, picked=(next(iter(REPLACED)),))


def noisy_groups(*, examples: int, seed: int) -> Problem:
    """The same source once, in groups of examples with ever more labels replaced at random."""
    whole = digits(examples=examples, seed=seed)
    images, labels = _helpful(whole)
    draw = np.random.default_rng(derived_seed(seed, "noisy groups"))
    groups = draw.permutation(np.arange(len(labels)) % len(REPLACED))
    given = _partly_drawn(labels, np.array([*REPLACED.values()])[groups], draw)
    return replace(
        whole,
        sources=[classification(_HELPFUL, train=(images, given))],
        worth={name: 1 - share for name, share in REPLACED.items()},
        picked=(next(iter(REPLACED)),),
        parts=Parts(unit="group", of_example=np.array([*REPLACED])[groups]),
    )


def noisy_examples(*, examples: int, seed: int) -> Problem:
    """The same source once, some of whose labels are replaced at random."""
    whole = digits(examples=examples, seed=seed)
    images, labels = _helpful(whole)
    draw = np.random.default_rng(derived_seed(seed, "noisy examples"))
    given = _partly_drawn(labels, REPLACED_ANYWHERE, draw)
    return replace(
        whole,
        sources=[classification(_HELPFUL, train=(images, given))],
        worth={RIGHT: 1.0, WRONG: 0.0},
        picked=(RIGHT,),
        parts=Parts(unit="example", of_example=np.where(given == labels, RIGHT, WRONG)),
    )


def _helpful(whole: Problem) -> tuple[NDArray[Any], NDArray[Any]]:
    """Images and labels of the source that noise is put into."""
    source = next(task for task in whole.sources if task.name == _HELPFUL)
    batch = source.train.batch(np.arange(len(source.train)))
    return batch.inputs.numpy(), batch.labels.numpy()


def _partly_drawn(
    labels: NDArray[Any], share: float | NDArray[Any], draw: np.random.Generator
) -> NDArray[Any]:
    """Labels of which a share, on average, is drawn at random among all that there are."""
    drawn = draw.random(len(labels)) < share
    return np.where(drawn, draw.integers(labels.max() + 1, size=len(labels)), labels)


def teachers(*, examples: int, seed: int) -> Problem:
    """Which side of a plane a point lies on; the planes of sources are turned by known angles."""
    draw = np.random.default_rng(derived_seed(seed, "teachers"))
    axes = np.linalg.qr(draw.normal(size=(_INPUTS, _INPUTS)))[0]

    def points(count: int, normal: NDArray[np.float64] | None) -> tuple[NDArray, NDArray]:
        inputs = draw.normal(size=(count, _INPUTS))
        sides = draw.integers(2, size=count) if normal is None else inputs @ normal > 0
        return inputs, sides.astype(int)

    sources = [
        classification(name, train=points(count, _turned(axes[0], axes[number], angle)))
        for number, (name, (angle, count)) in enumerate(TEACHERS.items(), start=1)
    ]
    target = classification(
        "teacher",
        train=points(examples, axes[0]),
        dev=points(_HELD_OUT, axes[0]),
        test=points(_HELD_OUT, axes[0]),
        labels=("below", "above"),
    )
    useful = [n for n, (a, _) in TEACHERS.items() if a is not None and a < _FEWEST_HELPFUL]
    return Problem(
        target=target,
        sources=sources,
        worth={name: float(name in useful) for name in TEACHERS},
        picked=tuple(useful),
        model=lambda tasks: _network(tasks, (_INPUTS,), (_HIDDEN,), seed=seed),
    )


def _network(
    tasks: Sequence[Task], shape: tuple[int, ...], widths: tuple[int, ...], *, seed: int
) -> MultiTaskModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "model"))
        return MultiTaskModel.for_tasks(MLP(shape, widths=widths), tasks, width=widths[-1])


def _turned(
    normal: NDArray[np.float64], towards: NDArray[np.float64], angle: float | None
) -> NDArray[np.float64] | None:
    if angle is None:
        return None
    turned: NDArray[np.float64] = np.cos(np.deg2rad(angle)) * normal
    return turned + np.sin(np.deg2rad(angle)) * towards
