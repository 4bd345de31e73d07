"""What is found in the data: plain values, ready for JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

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


@dataclass(frozen=True, kw_only=True)
class PieceFacts:
    """What an encoder sees of the examples of a split."""

    max_length: int
    """Most pieces to a row."""
    lengths: Lengths
    """In pieces, special ones included."""
    too_long: int
    """Examples of more pieces than that."""
    too_long_share: float
    cut_words: int | None
    """Words that would be lost if such sentences were truncated; tagging alone."""
    cut_words_share: float | None
    rows: int | None
    """Rows that there would be if they became windows; tagging alone."""


@dataclass(frozen=True, kw_only=True)
class CorpusFacts:
    """The text of a split whose examples are documents."""

    tokens: int
    """Of all documents, with what separates them."""
    bytes: int
    """That the documents have in UTF-8, with one for the end of each."""
    windows: int
    """That they are trained on in."""


@dataclass(frozen=True, kw_only=True)
class SplitFacts:
    """The examples of one split of one task."""

    examples: int
    words: int | None = None
    """In all, where examples are made of words."""
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
    corpus: CorpusFacts | None = None
    """Where examples are documents."""

    @property
    def noun(self) -> str:
        """What an example of it is called."""
        return "example" if self.corpus is None else "document"

    @property
    def amounts(self) -> dict[str, int]:
        """What there is of it beside examples, under the heading of a column.

        Splits with the same headings are shown in one table.

        Example:
            >>> SplitFacts(examples=2, words=9).amounts
            {'words': 9}
        """
        if self.corpus is not None:
            return asdict(self.corpus)
        return {} if self.words is None else {"words": self.words}


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
    """The first training examples as they were read, a line each, if in words."""
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
