"""What is found in the data: plain values, ready for JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.text.measuring import Lengths, PieceFacts

Role: TypeAlias = Literal["target", "source", "file"]
"""What a task is to a run; `file`, where there is no configuration to say."""


@dataclass(frozen=True, kw_only=True)
class LabelCount:
    """How often a label occurs: among examples, or among words for tags."""

    label: str
    count: int
    share: float


@dataclass(frozen=True, kw_only=True)
class NumberFacts:
    """The labels of a regression."""

    mean: float
    deviation: float
    smallest: float
    largest: float


@dataclass(frozen=True, kw_only=True)
class SplitFacts:
    """The examples of one split of one task."""

    examples: int
    words: int | None = None
    """In all; none for arrays."""
    lengths: Lengths | None = None
    """In words."""
    labels: tuple[LabelCount, ...] = ()
    """The most frequent first; none for regression."""
    numbers: NumberFacts | None = None
    """For regression."""
    unseen_labels: tuple[LabelCount, ...] = ()
    """Those that the training examples do not have."""
    repeated: int = 0
    """Examples that are the same as an earlier one of the split, whatever their labels."""
    also_in: Mapping[str, int] = field(default_factory=dict)
    """Examples that occur in each earlier split of the task too."""
    pieces: PieceFacts | None = None
    """Where there is an encoder."""


@dataclass(frozen=True, kw_only=True)
class TaskFacts:
    """One task."""

    name: str
    kind: str
    role: Role
    splits: Mapping[str, SplitFacts]
    repaired: int = 0
    """Sentences whose tags broke IOB2 and were repaired."""
    converted: int = 0
    """Sentences whose tags were BIOES and were converted."""
    empty: int = 0
    """Examples without words, which are left out."""
    first: tuple[str, ...] = ()
    """The first training examples as they were read, a line each; none for arrays."""
    doubts: tuple[str, ...] = ()
    """What makes it doubtful that the right columns were read, a sentence each."""


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """The training examples of one task found among the examples of another."""

    train_of: str
    """The task whose training examples are looked for."""
    task: str
    split: str
    """Where."""
    of_train: int
    """How many of those training examples are there."""
    of_split: int
    """How many examples of the split they are; more or fewer, where there are repetitions."""
    share: float
    """Of the split's examples."""


@dataclass(frozen=True, kw_only=True)
class DataFacts:
    """Everything that was found."""

    tasks: tuple[TaskFacts, ...]
    """Targets first."""
    overlaps: tuple[Overlap, ...]
    """Between every two tasks."""
    warnings: tuple[str, ...]
    """What a person would want to know before trusting a score, a sentence each."""
