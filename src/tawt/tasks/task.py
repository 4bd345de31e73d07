"""A task: labelled examples in up to three splits, and what kind of answer they want."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from tawt.errors import DataError

if TYPE_CHECKING:
    from tawt.tasks.examples import Examples
    from tawt.tasks.kind import Kind

SplitName: TypeAlias = Literal["train", "dev", "test"]
"""What examples are for: to train on, to choose by, to report on."""


@dataclass(frozen=True)
class Task:
    """A named task. Whether it is a source or the target is a role, not a property of it.

    Args:
        name: What it is called everywhere.
        kind: What kind of answer it wants.
        train: Examples to train on.
        dev: Held-out examples to choose by, if there are any.
        test: Held-out examples to report on, if there are any.
        head: Tasks of text that name the same one share their last layer.
    """

    name: str
    kind: Kind
    train: Examples
    dev: Examples | None = None
    test: Examples | None = None
    head: str | None = None

    def __post_init__(self) -> None:
        if not self.name or not self.name.isprintable():
            raise DataError(f"A task needs a printable name; got {self.name!r}.")
        for split, examples in self.splits().items():
            if len(examples) == 0:
                raise DataError(
                    f"Task {self.name!r} has no {split} examples; give it at least one"
                    + (", or no split of that name at all." if split != "train" else ".")
                )

    def splits(self) -> dict[SplitName, Examples]:
        """The splits that there are, the training examples first."""
        found: dict[SplitName, Examples | None] = {
            "train": self.train,
            "dev": self.dev,
            "test": self.test,
        }
        return {name: examples for name, examples in found.items() if examples is not None}

    def split(self, name: SplitName) -> Examples | None:
        """The examples of one split, if there are any.

        Args:
            name: Of the split.
        """
        return self.splits().get(name)
