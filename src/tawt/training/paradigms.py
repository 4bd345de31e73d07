"""The paradigms, as lists of phases for the one loop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from tawt.errors import ConfigError

ParadigmName: TypeAlias = Literal[
    "single-task", "pre-training", "joint", "joint then fine-tuning", "sources only"
]
"""What a configuration calls a paradigm."""


@dataclass(frozen=True)
class Phase:
    """A stretch of training with one objective."""

    name: str
    trains_on: Literal["sources", "sources and target", "target"]
    """Which tasks are in the objective; the target alone has all the weight."""

    epochs: int
    moves: Literal["everything", "head"] = "everything"
    """Whether the representation is trained, or frozen while the target's head is fitted."""

    learning_rate: float | None = None
    """Peak learning rate; the settings' by default."""

    target_part: Literal["all", "first", "second"] = "all"
    """Which part of the target's examples it may see, when they are split."""

    def __post_init__(self) -> None:
        rate = self.learning_rate
        if rate is not None and not 0 < rate < math.inf:
            raise ConfigError(f"The learning rate of {self.name} must be positive; got {rate}.")

    @property
    def weighs_sources(self) -> bool:
        """Whether the weighting is asked."""
        return self.trains_on != "target"

    def head_fit(self) -> Phase:
        """The fit of the target's head on this phase's representation, frozen."""
        return Phase("head", "target", 1, moves="head", target_part=self.target_part)


class Paradigm(Protocol):
    """Turns into phases."""

    def phases(self) -> tuple[Phase, ...]:
        """What to do, in order."""
        ...


@dataclass(frozen=True, kw_only=True)
class SingleTask:
    """Learn from the target's examples alone.

    Args:
        epochs: Passes over the target.

    Example:
        >>> [phase.name for phase in SingleTask(epochs=4).phases()]
        ['target']
    """

    epochs: int = 4

    def phases(self) -> tuple[Phase, ...]:
        """One phase."""
        _positive(epochs=self.epochs)
        return (Phase("target", "target", self.epochs),)


@dataclass(frozen=True, kw_only=True)
class SourcesOnly:
    """Train on the weighted sources, and never on the target.

    The target's examples only say what each source is worth. This is for models that the target
    shares whole, such as language models: a head of its own would stay untrained.

    Args:
        epochs: Passes over the sources.

    Example:
        >>> [phase.name for phase in SourcesOnly(epochs=4).phases()]
        ['sources']
    """

    epochs: int = 4

    def phases(self) -> tuple[Phase, ...]:
        """One phase."""
        _positive(epochs=self.epochs)
        return (Phase("sources", "sources", self.epochs),)


@dataclass(frozen=True, kw_only=True)
class PreTraining:
    """Learn the representation from the weighted sources, then fine-tune on the target.

    Args:
        epochs: Passes over the sources.
        fine_tune_epochs: Passes over the target, the whole model moving.
        fine_tune_learning_rate: The settings' by default.
        split_target: The form that the paper's theorem analyses: weights and representation see
            one half of the target's examples, the final head is fitted on the other, and the
            representation is not fine-tuned.

    Example:
        >>> [phase.name for phase in PreTraining(epochs=4).phases()]
        ['sources', 'fine-tuning']
    """

    epochs: int = 4
    fine_tune_epochs: int = 4
    fine_tune_learning_rate: float | None = None
    split_target: bool = False

    def phases(self) -> tuple[Phase, ...]:
        """Sources, then target."""
        _positive(epochs=self.epochs, fine_tune_epochs=self.fine_tune_epochs)
        if self.split_target:
            first = Phase("sources", "sources", self.epochs, target_part="first")
            return first, _final_head(self.fine_tune_epochs)
        tune = Phase(
            "fine-tuning",
            "target",
            self.fine_tune_epochs,
            learning_rate=self.fine_tune_learning_rate,
        )
        return Phase("sources", "sources", self.epochs), tune


@dataclass(frozen=True, kw_only=True)
class JointTraining:
    """Train on the weighted sources and the target together.

    Args:
        epochs: Passes over all of them.
        fine_tune_epochs: Passes over the target alone afterwards; none in the paper.
        fine_tune_learning_rate: The settings' by default.
        split_target: As in `PreTraining`.
        head_epochs: With `split_target`, passes with which the final head is fitted.

    Example:
        >>> [phase.name for phase in JointTraining(epochs=4, fine_tune_epochs=1).phases()]
        ['joint', 'fine-tuning']
    """

    epochs: int = 4
    fine_tune_epochs: int = 0
    fine_tune_learning_rate: float | None = None
    split_target: bool = False
    head_epochs: int = 4

    def phases(self) -> tuple[Phase, ...]:
        """All tasks together, and fine-tuning if asked for."""
        _positive(epochs=self.epochs, head_epochs=self.head_epochs)
        part: Literal["all", "first"] = "first" if self.split_target else "all"
        joint = Phase("joint", "sources and target", self.epochs, target_part=part)
        if self.split_target:
            return joint, _final_head(self.head_epochs)
        if not self.fine_tune_epochs:
            return (joint,)
        _positive(fine_tune_epochs=self.fine_tune_epochs)
        tune = Phase(
            "fine-tuning",
            "target",
            self.fine_tune_epochs,
            learning_rate=self.fine_tune_learning_rate,
        )
        return joint, tune


def _final_head(epochs: int) -> Phase:
    return Phase("final head", "target", epochs, moves="head", target_part="second")


def _positive(**epochs: int) -> None:
    for name, value in epochs.items():
        if value < 1:
            raise ConfigError(f"`{name}` must be at least 1; got {value}.")
