"""A task measured: its facts, and what tells its examples from those of others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.modality.facts import (
    DataFacts,
    LabelCount,
    NumberFacts,
    Overlap,
    Role,
    SplitFacts,
    TaskFacts,
)
from tawt.modality.warnings import warnings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tawt.tasks import Examples, Task

_SHOWN = 3  # examples as they were read


@dataclass(frozen=True)
class Measured:
    """One task."""

    facts: TaskFacts
    contents: Mapping[str, NDArray[np.uint64]]
    """Eight bytes for each example of each split."""


def measured(task: Task, *, role: Role) -> Measured:
    """A task of any kind of data: sizes, labels, repetitions.

    Args:
        task: With the splits that are to be looked into.
        role: What the task is to the run.
    """
    splits = task.splits()
    contents: dict[str, NDArray[np.uint64]] = {
        split: examples.digests() for split, examples in splits.items()
    }
    labels = {split: _labels(examples) for split, examples in splits.items()}
    counts: dict[str, tuple[LabelCount, ...]] = {
        split: label_counts(label for label in found if isinstance(label, str))
        for split, found in labels.items()
    }
    facts = TaskFacts(
        name=task.name,
        kind=type(task.kind).__name__.lower(),
        role=role,
        splits={
            split: SplitFacts(
                examples=len(examples),
                labels=counts[split],
                numbers=number_facts(labels[split]),
                unseen_labels=unseen_labels(split, counts),
                repeated=repeated(contents[split]),
                also_in=also_in(split, contents),
            )
            for split, examples in splits.items()
        },
        first=tuple(
            shown
            for index in range(min(len(task.train), _SHOWN))
            if (shown := task.train.preview(index))
        ),
        doubts=tuple(_one_value("train", labels["train"])),
    )
    return Measured(facts, contents)


def facts_of(tasks: Sequence[Measured], *known: str) -> DataFacts:
    """All that was found.

    Args:
        tasks: Targets first.
        known: What there is to warn of already.
    """
    found, common = tuple(task.facts for task in tasks), overlaps(tasks)
    return DataFacts(tasks=found, overlaps=common, warnings=(*known, *warnings(found, common)))


def overlaps(tasks: Sequence[Measured]) -> tuple[Overlap, ...]:
    """The training examples of every task, looked for in every other.

    Args:
        tasks: Any number.
    """
    return tuple(
        Overlap(
            train_of=one.facts.name,
            task=other.facts.name,
            split=split,
            of_train=shared(one.contents["train"], contents),
            of_split=(of_split := shared(contents, one.contents["train"])),
            share=of_split / len(contents),
        )
        for one in tasks
        for other in tasks
        if one is not other
        for split, contents in other.contents.items()
    )


def _one_value(split: str, labels: Sequence[Any]) -> Iterator[str]:
    if len(set(labels)) == 1:
        yield f"every label of {split} is {labels[0]}, so there is nothing to learn."


def _labels(examples: Examples) -> list[Any]:
    """One for each example: a name, or a number."""
    names = examples.names()
    if names is None:
        return [examples.label(index) for index in range(len(examples))]
    return [names.names[number] for number in names.numbers]


def label_counts(labels: Iterable[str]) -> tuple[LabelCount, ...]:
    """How often each occurs, the commonest first."""
    counts = Counter(labels)
    total = counts.total()
    by_count = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(
        LabelCount(label=label, count=count, share=count / total) for label, count in by_count
    )


def unseen_labels(
    split: str, labels: Mapping[str, tuple[LabelCount, ...]]
) -> tuple[LabelCount, ...]:
    """Labels of a split that the first one, which is trained on, does not have."""
    known = {each.label for each in next(iter(labels.values()))}
    return tuple(each for each in labels[split] if each.label not in known)


def number_facts(labels: Sequence[Any]) -> NumberFacts | None:
    """The labels of a regression; nothing if one of them is no number."""
    if not labels or not all(isinstance(label, int | float) for label in labels):
        return None
    values = np.array(labels, np.float64)
    return NumberFacts(
        mean=float(values.mean()),
        deviation=float(values.std()),
        smallest=float(values.min()),
        largest=float(values.max()),
    )


def also_in(split: str, contents: Mapping[str, NDArray[np.uint64]]) -> dict[str, int]:
    """How many examples of a split are in each of those before it."""
    names = list(contents)
    earlier = names[: names.index(split)]
    return {name: shared(contents[split], contents[name]) for name in earlier}


def repeated(contents: NDArray[np.uint64]) -> int:
    """How many are the same as an earlier one.

    Example:
        >>> repeated(np.array([5, 6, 5, 5], np.uint64))
        2
    """
    return len(contents) - len(np.unique(contents))


def shared(contents: NDArray[np.uint64], *others: NDArray[np.uint64]) -> int:
    """How many occur among others.

    Example:
        >>> shared(np.array([5, 6, 5], np.uint64), np.array([5, 7], np.uint64))
        2
    """
    if not len(contents):
        return 0
    # Millions of others are looked up, not sorted as `np.isin` does.
    known, counts = np.unique(contents, return_counts=True)
    found = np.zeros(len(known), np.bool_)
    for part in others:
        places = np.minimum(np.searchsorted(known, part), len(known) - 1)
        found[places[known[places] == part]] = True
    return int(counts[found].sum())
