"""What a number of a table needs: one run, the best of several, or a run with another's weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.config import RunConfig

Record = dict[str, Any]
"""What the store keeps of a run."""


class Records(Protocol):
    """Where finished runs are found."""

    def get(self, config: RunConfig) -> Record | None:
        """The record of the run with this configuration, if it is made."""


class Run(Protocol):
    """One run, but for the seed. Equal runs are made once."""

    def config(self, seed: int) -> RunConfig:
        """As it is run with a seed."""

    def __hash__(self) -> int: ...


class Holding(Run, Protocol):
    """A run that can also be made with weights that are given and kept."""

    def holding(self, seed: int, weights: Mapping[str, float]) -> RunConfig:
        """The same with these weights."""


@dataclass(frozen=True)
class Once:
    """One run."""

    run: Run

    def open(self, seed: int, records: Records) -> list[RunConfig]:
        """Runs that can be made now, and are not yet."""
        config = self.run.config(seed)
        return [] if records.get(config) is not None else [config]

    def record(self, seed: int, records: Records) -> Record | None:
        """The record that counts, once its runs are made."""
        return records.get(self.run.config(seed))

    @property
    def runs(self) -> tuple[Run, ...]:
        """Those whose configuration is known from the start."""
        return (self.run,)


@dataclass(frozen=True)
class BestOf:
    """The run with the best dev score; of equals, the first."""

    runs: tuple[Run, ...]

    def open(self, seed: int, records: Records) -> list[RunConfig]:
        """Runs that can be made now, and are not yet."""
        return [config for run in self.runs for config in Once(run).open(seed, records)]

    def record(self, seed: int, records: Records) -> Record | None:
        """The record that counts, once its runs are made."""
        found = [records.get(run.config(seed)) for run in self.runs]
        known = [record for record in found if record is not None]
        if len(known) < len(found):
            return None
        return max(known, key=lambda record: score(record, "dev"))


@dataclass(frozen=True)
class Held:
    """A run with the final weights of another, which are kept."""

    of: Once | BestOf
    run: Holding

    def open(self, seed: int, records: Records) -> list[RunConfig]:
        """Runs that can be made now, and are not yet."""
        before = self.of.open(seed, records)
        if before:
            return before
        config = self._config(seed, records)
        return [config] if config is not None and records.get(config) is None else []

    def record(self, seed: int, records: Records) -> Record | None:
        """The record that counts, once its runs are made."""
        config = self._config(seed, records)
        return None if config is None else records.get(config)

    @property
    def runs(self) -> tuple[Run, ...]:
        """Those whose configuration is known from the start."""
        return self.of.runs

    def _config(self, seed: int, records: Records) -> RunConfig | None:
        learned = self.of.record(seed, records)
        return None if learned is None else self.run.holding(seed, learned["weights"])


Choice = Once | BestOf | Held


def score(record: Record, split: str = "test") -> float:
    """The score that counts, of the record's one target; worst of all where there is no number."""
    target = record["target"]
    found = record["scores"][target][split][record["metric"][target]]
    return float("-inf") if found is None else float(found)
