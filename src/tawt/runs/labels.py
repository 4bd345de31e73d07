"""The gold labels of a task's training examples: one of them, or all of them as numbers.

Where there are millions, no object is made for each.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.units import Coded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tawt.tasks import Task

_NOTHING = "O"  # the tag of words that are part of nothing


def label_of(task: Task, index: int) -> Any:
    """Of one example: a name, a number, or a tag for each word."""
    examples: Any = task.train
    if hasattr(examples, "sentences"):
        return examples.sentences[index].tags
    if hasattr(examples, "texts"):
        return examples.texts[index].label
    names, given = getattr(task.kind, "labels", None), examples.labels[index].item()
    return given if names is None else names[given]


def one_name_each(task: Task) -> Coded | None:
    """A name for each example, of a sentence its commonest tag; nothing where labels are numbers.

    Example:
        >>> from tawt.arrays import classification
        >>> task = classification("sex", train=(np.eye(3), [1, 0, 1]), labels=["f", "m"])
        >>> one_name_each(task)
        Coded(names=('f', 'm'), numbers=array([1, 0, 1], dtype=int32))
    """
    examples: Any = task.train
    if hasattr(examples, "sentences"):
        return Coded.of(_commonest(sentence.tags) for sentence in examples.sentences)
    return _named(task)


def all_names(task: Task) -> tuple[Coded, NDArray[np.int32] | int] | None:
    """Every name that examples have, example after example, and how many each of them has.

    Of a sentence these are its tags, each of them once. Nothing where labels are numbers.
    """
    examples: Any = task.train
    if hasattr(examples, "sentences"):
        tags = Coded.of(tag for sentence in examples.sentences for tag in set(sentence.tags))
        return tags, np.fromiter((len(set(s.tags)) for s in examples.sentences), np.int32)
    found = _named(task)
    return None if found is None else (found, 1)


def _named(task: Task) -> Coded | None:
    """The names of whole examples."""
    examples: Any = task.train
    if hasattr(examples, "texts"):
        numbers = isinstance(examples.texts[0].label, float)
        return None if numbers else Coded.of(text.label for text in examples.texts)
    names = getattr(task.kind, "labels", None)
    return None if names is None else Coded(tuple(names), examples.labels.numpy().astype(np.int32))


def _commonest(tags: Iterable[str]) -> str:
    """Of those that say anything; the first by name of several."""
    counts = Counter(tag for tag in tags if tag != _NOTHING) or Counter({_NOTHING: 1})
    return min(counts, key=lambda tag: (-counts[tag], tag))
