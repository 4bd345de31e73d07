"""Runs of the paper's four tagging tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tawt.config import parsed
from tawt.config.rows import ROWS
from tawt.paths import slug
from tawt.reproduce.paper import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.config import RunConfig

Sizes = tuple[tuple[str, int], ...]
"""Training sentences of each task."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all runs of a reproduction share."""

    tasks: Mapping[str, Mapping[str, Any]] = field(repr=False)
    """Fields of each task, as a configuration's `data.tasks` has them."""
    about: str
    """What the data is."""
    available: Mapping[str, int]
    """Training sentences of each task."""
    encoder: str
    max_length: int = SETTINGS["max_length"]
    epochs: int = SETTINGS["epochs"]
    training: Mapping[str, Any] = field(default_factory=dict)
    """Where training departs from the paper's settings."""
    cap: bool = False
    """Whether sizes larger than the data has are taken as large as it has."""
    tiny: bool = False
    """Whether sizes are made tiny, to see that all works."""

    def size(self, wanted: int) -> int:
        """A size of the paper's, or what stands for it in a tiny run.

        Example:
            >>> setup = Setup(tasks={}, about="", available={}, encoder="", tiny=True)
            >>> [setup.size(wanted) for wanted in (100, 500, 9000)]
            [6, 7, 32]
        """
        return max(6, round(wanted**0.5 / 3)) if self.tiny else wanted

    def capped(self, task: str, wanted: int) -> int:
        """That many sentences, or as many as there are."""
        return min(wanted, self.available[task])


@dataclass(frozen=True)
class TaggingRun:
    """One way of training for one target, with so many sentences of each task."""

    setup: Setup = field(hash=False)
    row: str
    """One of `tawt compare`'s."""
    target: str
    sizes: Sizes
    """The target's last."""
    scale: float = 1.0
    """c."""

    def config(self, seed: int) -> RunConfig:
        """As it is run with a seed."""
        return self._named(ROWS[self.row].applied(self._shared(), seed=seed))

    def holding(self, seed: int, weights: Mapping[str, float]) -> RunConfig:
        """The same with these weights."""
        return self._named(ROWS[self.row].applied(self._shared(), seed=seed, learned=weights))

    def _named(self, config: RunConfig) -> RunConfig:
        return config.model_copy(update={"name": f"{config.name}-{slug(self.target)}"})

    def _shared(self) -> RunConfig:
        setup = self.setup
        tasks = {
            name: {**setup.tasks[name], "limit": setup.capped(name, size)}
            for name, size in self.sizes
        }
        return parsed(
            {
                "data": {"kind": "text", "tasks": tasks},
                "target": self.target,
                "model": {"encoder": setup.encoder, "max_length": setup.max_length},
                "epochs": setup.epochs,
                "target_epochs": setup.epochs,
                "weighting": {"preset": "paper", "scale": self.scale},
                "training": dict(setup.training),
            }
        )
