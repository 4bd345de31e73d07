"""Where a run is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True)
class TrainingProgress:
    """How far a run has come, for whoever watches it."""

    step: int
    total: int
    """Steps in all; fewer are taken when training stops early."""
    phase: str


@dataclass(frozen=True)
class Position:
    """The next step to take.

    Example:
        >>> Position().next_step().next_epoch()
        Position(phase=0, epoch=1, step=0, total=1)
    """

    phase: int = 0
    epoch: int = 0
    step: int = 0
    """In the epoch."""
    total: int = 0
    """Steps taken since the run began."""

    def next_step(self) -> Position:
        """After one more step."""
        return replace(self, step=self.step + 1, total=self.total + 1)

    def next_epoch(self) -> Position:
        """At the start of the next epoch."""
        return replace(self, epoch=self.epoch + 1, step=0)

    def next_phase(self) -> Position:
        """At the start of the next phase."""
        return replace(self, phase=self.phase + 1, epoch=0, step=0)

    def to_json(self) -> dict[str, int]:
        """As plain values."""
        return asdict(self)
