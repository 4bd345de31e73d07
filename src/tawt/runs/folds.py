"""Cross-fitting: a target whose training and dev examples are cut into parts, one held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.errors import DataError
from tawt.streams import stream
from tawt.tasks.examples import Subset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tawt.config.fold import FoldConfig
    from tawt.tasks import Examples, Task
    from tawt.tasks.examples import Indices


@dataclass(frozen=True)
class Pool:
    """All examples of a target that may be trained on."""

    examples: Examples
    left_out: int = 0
    """Dev examples that are not among them: labelled with what no training example is, or of a kind
    of data whose examples cannot be put together."""


def pooled(task: Task) -> Pool:
    """The training examples of a task and then its dev examples.

    Args:
        task: The target.
    """
    if task.dev is None:
        return Pool(task.train)
    known = {label for index in range(len(task.train)) for label in _labels(task.train, index)}
    kept = [index for index in range(len(task.dev)) if known.issuperset(_labels(task.dev, index))]
    both = task.train.followed_by(task.dev)
    if both is None or not kept:
        return Pool(task.train, left_out=len(task.dev))
    if len(kept) == len(task.dev):
        return Pool(both)
    own = np.arange(len(task.train))
    chosen = np.concatenate([own, len(own) + np.array(kept)])
    return Pool(Subset(both, chosen), left_out=len(task.dev) - len(kept))


def folded(task: Task, fold: FoldConfig, *, seed: int) -> Task:
    """A target as a run of one fold has it: without dev examples, scored on what is held out.

    Args:
        task: The target, with splits of its own.
        fold: Which part is held out.
        seed: Of the run.

    Raises:
        DataError: There are fewer examples than parts.
    """
    pool = pooled(task).examples
    if fold.part is None:
        return replace(task, train=pool, dev=None)
    if len(pool) < fold.of:
        raise DataError(
            f"The target {task.name!r} has {len(pool)} examples to train on, too few to cut into "
            f"{fold.of} parts; lower `fold.of`."
        )
    parts = parts_of(pool, fold.of, seed=seed)
    return replace(
        task,
        train=Subset(pool, np.flatnonzero(parts != fold.part)),
        dev=None,
        test=Subset(pool, np.flatnonzero(parts == fold.part)),
    )


def halved(task: Task, *, seed: int, evenly: bool) -> Task:
    """A task with half of its training examples.

    Args:
        task: Any.
        seed: Of the run.
        evenly: Whether labels are spread evenly, which takes a look at every example.
    """
    if evenly:
        parts = parts_of(task.train, 2, seed=seed)
        chosen = np.flatnonzero(parts == parts.min())  # all may be alike, and in one part
    else:
        count = len(task.train)
        order = stream(seed, "half", task.name).permutation(count)
        chosen = np.sort(order[: (count + 1) // 2])
    return replace(task, train=Subset(task.train, chosen))


def parts_of(examples: Examples, count: int, *, seed: int) -> Indices:
    """The part that each example is in, from 1: parts of equal size, labels spread evenly.

    Examples with nearly the same input are in the same part: a model that was trained on one would
    know the other.

    Args:
        examples: To be cut.
        count: Parts.
        seed: Of the order in which examples of one label are dealt out.

    Example:
        >>> from tawt.arrays import classification
        >>> task = classification("parity", train=(np.eye(8), [0, 1] * 4))
        >>> parts = parts_of(task.train, 4, seed=0)
        >>> sorted(parts[::2].tolist()), sorted(parts[1::2].tolist())
        ([1, 2, 3, 4], [1, 2, 3, 4])
    """
    order = stream(seed, "folds", count).permutation(len(examples))
    names = examples.names()
    if names is not None:
        numbers = np.asarray(names.numbers)
        order = order[np.argsort(numbers[order], kind="stable")]
    parts = np.empty(len(examples), np.int64)
    parts[order] = np.arange(len(examples)) % count + 1
    alike = examples.likenesses()
    inputs = examples.digests() if alike is None else alike
    _, firsts, same = np.unique(inputs, return_index=True, return_inverse=True)
    together: Indices = parts[firsts][same]
    return together


def _labels(examples: Examples, index: int) -> Iterable[Any]:
    """The names that one example is labelled with; none where labels are numbers."""
    label = examples.label(index)
    if isinstance(label, str):
        return (label,)
    return label if isinstance(label, tuple) else ()
