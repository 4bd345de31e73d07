"""Which distances are asked for, and so what has to be trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.distance.budgets import TrainingBudget
from tawt.distance.jobs import Job
from tawt.errors import ConfigError, suggestion
from tawt.weights import SourceWeights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.tasks import Task

MIXTURES = ("uniform", "learned")
"""Names of the mixtures that are always measured."""


@dataclass(frozen=True)
class Question:
    """Which distances are asked for.

    Args:
        sources: Names of the sources.
        target: Name of the target.
        given: Weights of the caller's, by a name of theirs.
        matrix: Whether every task is to be measured from every other.
    """

    sources: tuple[str, ...]
    target: str
    given: Mapping[str, Mapping[str, float]]
    matrix: bool = False

    def __post_init__(self) -> None:
        if not self.sources:
            raise ConfigError("There is no source whose distance could be measured.")
        for name in (*self.sources, self.target):
            if name in MIXTURES:
                raise ConfigError(
                    f"No task can be called {name!r} here, since a mixture is; rename the task."
                )
        for name, weights in self.given.items():
            if name in (*MIXTURES, *self.sources, self.target):
                raise ConfigError(f"Weights cannot be called {name!r}; that is something else.")
            for source in weights:
                if source not in self.sources:
                    raise ConfigError(
                        f"Weights {name!r}: there is no source {source!r}; "
                        f"{suggestion(source, self.sources)}"
                    )
            SourceWeights.of(weights)

    @property
    def measured(self) -> list[str]:
        """The tasks that distances are measured to, the target first."""
        return [self.target, *(self.sources if self.matrix else ())]

    @property
    def candidates(self) -> list[str]:
        """The tasks whose distances are estimated; in a matrix the target is one of them."""
        return [*self.sources, *([self.target] if self.matrix else ())]

    @property
    def mixtures(self) -> dict[str, dict[str, float]]:
        """ω by name; for the learned ones, where they start."""
        even = dict.fromkeys(self.sources, 1 / len(self.sources))
        usual = dict.fromkeys(MIXTURES, even) if len(self.sources) > 1 else {}
        return {**usual, **{name: dict(weights) for name, weights in self.given.items()}}

    @property
    def jobs(self) -> list[Job]:
        """Trainings that a seed needs, the longest first."""
        found = [
            Job("learned" if name == "learned" else "sources", name, tuple(weights.items()))
            for name, weights in self.mixtures.items()
        ]
        found.append(Job("half", self._whole, tuple(self._weights(self._whole).items())))
        found += [Job("with", name) for name in self.sources]
        if self.matrix:  # what a source learns from itself is what it teaches others
            found += [Job("own", name) for name in self.sources]
        else:
            found += [Job("sources", name, ((name, 1.0),)) for name in self.sources]
        return [*found, Job("own", self.target), Job("alone", self.target)]

    def estimated(self, *, trained: bool) -> int:
        """How many sources and mixtures are estimated; learned weights only once they are."""
        unknown = "learned" in self.mixtures and not trained
        return len(self.candidates) + len(self.mixtures) - unknown

    def budget(self, tasks: Mapping[str, Task], *, epochs: int, batch: int) -> TrainingBudget:
        """How long its trainings last."""
        return TrainingBudget(
            epochs=epochs,
            batch=batch,
            sizes=tuple(len(tasks[name].train) for name in self.sources),
            target_size=len(tasks[self.target].train),
        )

    def job_of(self, name: str) -> Job:
        """The one that trains this source's or mixture's representation."""
        return next(
            job
            for job in self.jobs
            if job.name == name and job.what in ("sources", "learned", "own")
        )

    @property
    def _whole(self) -> str:
        """The mixture that the bound's terms are measured for."""
        return "uniform" if len(self.sources) > 1 else self.sources[0]

    def _weights(self, name: str) -> dict[str, float]:
        return self.mixtures.get(name, {name: 1.0})
