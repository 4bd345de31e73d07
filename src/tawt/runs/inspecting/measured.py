"""A task measured: its facts, and what tells its examples from those of others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.arrays import Classification
from tawt.runs.inspecting.contents import (
    array_contents,
    repeated,
    shared,
    text_contents,
)
from tawt.runs.inspecting.facts import (
    LabelCount,
    NumberFacts,
    Overlap,
    Role,
    SplitFacts,
    TaskFacts,
)
from tawt.text.measuring import Lengths, piece_facts, word_counts
from tawt.text.reading import TaggedSentence, doubts, preview

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from tawt.tasks import Task
    from tawt.text.kinds import Cutting
    from tawt.text.reading import Example
    from tawt.text.reading.report import ReadReport

SPLITS = ("train", "dev", "test")
_SHOWN = 3  # examples as they were read


@dataclass(frozen=True)
class Measured:
    """One task."""

    facts: TaskFacts
    contents: Mapping[str, NDArray[np.uint64]]
    """Eight bytes for each example of each split."""


def measured_text(
    name: str,
    splits: Mapping[str, Sequence[Example]],
    report: ReadReport,
    *,
    kind: str,
    role: Role,
    cutting: Cutting | None,
) -> Measured:
    """A task of text.

    Args:
        name: Of the task.
        splits: Its examples, the training examples first.
        report: What was found while reading them.
        kind: Of the task.
        role: What the task is to the run.
        cutting: How texts become pieces, where there is an encoder.
    """
    contents = {split: text_contents(examples) for split, examples in splits.items()}
    labels = {split: _label_counts(_labels(examples)) for split, examples in splits.items()}
    found: dict[str, SplitFacts] = {}
    for split, examples in splits.items():
        words = word_counts(examples)
        numbers = [label for x in examples if isinstance(label := getattr(x, "label", ""), float)]
        found[split] = SplitFacts(
            examples=len(examples),
            words=int(words.sum()),
            lengths=Lengths.of(words),
            labels=labels[split],
            numbers=_number_facts(numbers) if numbers else None,
            unseen_labels=_unseen(split, labels),
            repeated=repeated(contents[split]),
            also_in=_also_in(split, contents),
            pieces=None if cutting is None else piece_facts(examples, cutting),
        )
    facts = TaskFacts(
        name=name,
        kind=kind,
        role=role,
        splits=found,
        repaired=report.repaired,
        converted=report.converted,
        empty=report.empty,
        first=tuple(preview(each) for each in next(iter(splits.values()))[:_SHOWN]),
        doubts=tuple(doubts(splits)),
    )
    return Measured(facts, contents)


def measured_arrays(task: Task, *, role: Role) -> Measured:
    """A task of arrays: sizes, labels, repetitions.

    Args:
        task: Its examples are `ArrayExamples`.
        role: What the task is to the run.
    """
    parts: dict[str, Any] = {
        split: examples for split in SPLITS if (examples := getattr(task, split)) is not None
    }
    contents = {split: array_contents(examples.inputs) for split, examples in parts.items()}
    names = task.kind.labels if isinstance(task.kind, Classification) else None
    values = {split: examples.labels.tolist() for split, examples in parts.items()}
    labels = {
        split: () if names is None else _label_counts(names[value] for value in of_split)
        for split, of_split in values.items()
    }
    found = {
        split: SplitFacts(
            examples=len(examples),
            labels=labels[split],
            numbers=None if names else _number_facts(values[split]),
            unseen_labels=_unseen(split, labels),
            repeated=repeated(contents[split]),
            also_in=_also_in(split, contents),
        )
        for split, examples in parts.items()
    }
    facts = TaskFacts(
        name=task.name,
        kind="classification" if names else "regression",
        role=role,
        splits=found,
        doubts=tuple(_one_value(next(iter(values.items())))),
    )
    return Measured(facts, contents)


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


def _one_value(split: tuple[str, Sequence[Any]]) -> Iterable[str]:
    name, labels = split
    if len(set(labels)) == 1:
        yield f"every label of {name} is {labels[0]}, so there is nothing to learn."


def _labels(examples: Sequence[Example]) -> Iterable[str]:
    for example in examples:
        if isinstance(example, TaggedSentence):
            yield from example.tags
        elif isinstance(example.label, str):
            yield example.label


def _label_counts(labels: Iterable[str]) -> tuple[LabelCount, ...]:
    counts = Counter(labels)
    total = counts.total()
    by_count = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(
        LabelCount(label=label, count=count, share=count / total) for label, count in by_count
    )


def _unseen(split: str, labels: Mapping[str, tuple[LabelCount, ...]]) -> tuple[LabelCount, ...]:
    """Labels of a split that the first one, which is trained on, does not have."""
    known = {each.label for each in next(iter(labels.values()))}
    return tuple(each for each in labels[split] if each.label not in known)


def _number_facts(numbers: Sequence[Any]) -> NumberFacts:
    values = np.array(numbers, np.float64)
    return NumberFacts(
        mean=float(values.mean()),
        deviation=float(values.std()),
        smallest=float(values.min()),
        largest=float(values.max()),
    )


def _also_in(split: str, contents: Mapping[str, NDArray[np.uint64]]) -> dict[str, int]:
    names = list(contents)
    earlier = names[: names.index(split)]
    return {name: shared(contents[split], contents[name]) for name in earlier}
