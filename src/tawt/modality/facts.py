"""What is found in the data: plain values, ready for JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

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
class Lengths:
    """How long the examples of a split are.

    Example:
        >>> Lengths.of(np.array([1, 2, 3, 10]))
        Lengths(mean=4.0, median=2.5, p95=8.95, longest=10)
    """

    mean: float
    median: float
    p95: float
    """95% are no longer than this."""
    longest: int

    @classmethod
    def of(cls, lengths: NDArray[Any]) -> Lengths:
        """From the length of each example; there must be one at least."""
        return cls(
            mean=round(float(lengths.mean()), 2),
            median=round(float(np.median(lengths)), 2),
            p95=round(float(np.quantile(lengths, 0.95)), 2),
            longest=int(lengths.max()),
        )

    @property
    def columns(self) -> dict[str, str]:
        """As they are shown, under the heading of a column."""
        return {
            "mean": f"{self.mean:.1f}",
            "median": f"{self.median:g}",
            "95%": f"{self.p95:g}",
            "longest": f"{self.longest:,}",
        }


@dataclass(frozen=True, kw_only=True)
class FactTable:
    """What is shown of a split in a table of its own, with other splits that have the same one."""

    title: str
    columns: Mapping[str, str]
    """The split's cell in each, under the heading of the column."""
    note: str = ""
    """What the headings mean."""


@dataclass(frozen=True, kw_only=True)
class SplitFacts:
    """The examples of one split of one task.

    A kind of data that has more to say of its examples derives from it: fields are for JSON, and
    the properties say how they are shown.

    Example:
        >>> facts = SplitFacts(examples=2)
        >>> facts.title, facts.noun, facts.columns, facts.tables
        ('Examples', 'example', {}, ())
    """

    examples: int
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

    @property
    def noun(self) -> str:
        """What an example of it is called."""
        return "example"

    @property
    def title(self) -> str:
        """Over the table of sizes."""
        return f"{self.noun.capitalize()}s"

    @property
    def columns(self) -> dict[str, str]:
        """What there is of it beside examples, under the heading of a column.

        Splits with the same headings are shown in one table.
        """
        return {}

    @property
    def tables(self) -> tuple[FactTable, ...]:
        """What else is shown of it."""
        return ()


@dataclass(frozen=True, kw_only=True)
class TaskFacts:
    """One task."""

    name: str
    kind: str
    role: Role
    splits: Mapping[str, SplitFacts]
    empty: int = 0
    """Examples with nothing in them, which are left out."""
    first: tuple[str, ...] = ()
    """The first training examples as they were read, a line each, if in words."""
    doubts: tuple[str, ...] = ()
    """What makes it doubtful that the right columns were read, a sentence each."""

    def remarks(self) -> Iterator[str]:
        """What a person would want to know of it, a sentence each."""
        yield from self.doubts


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
