"""What the records of a regime come to, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.regimes.methods import ALONE, EQUAL, METHODS, PICKED, SINGLE
from benchmarks.regimes.plan import sources_of
from benchmarks.regimes.regimes import REGIMES

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from benchmarks.mixing.records import Record, Records

CEILING = "ceiling by search"
"""The best of the single sources and of those picked by hand, chosen on dev for each seed."""
CHOSEN_ON = ("ewt ner", "conll2000 chunk", "ewt supersense")
"""Targets that settings were chosen on."""

Case = tuple[str, int]
"""A target and a seed."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What a row has for a case."""

    score: float
    """On test examples, in percent."""
    area: float | None
    cost: float
    """Seconds of a processor."""

    @classmethod
    def of(cls, record: Record) -> Cell:
        """Of one training."""
        weighed = METHODS[record["spec"]["method"]].sources == "all"
        return cls(
            score=100 * record["score"],
            area=record["area"] if weighed else None,
            cost=record["processor_seconds"],
        )


@dataclass(frozen=True, kw_only=True)
class Table:
    """All rows of a regime."""

    name: str
    encoder: str | None
    rows: dict[str, dict[Case, Cell]]

    @classmethod
    def of(cls, records: Records, name: str, *, encoder: str | None) -> Table:
        """From the records of a regime."""
        rows: dict[str, dict[Case, Cell]] = {}
        for method in METHODS:
            for record in records.matching(regime=name, encoder=encoder, method=method):
                if method != SINGLE:
                    rows.setdefault(method, {})[_case(record)] = Cell.of(record)
        searched = _searched(records, name, encoder=encoder)
        if searched:
            rows[CEILING] = searched
        return cls(name=name, encoder=encoder, rows=rows)

    @property
    def targets(self) -> list[str]:
        """Those that equal weights were tried on; those that chose settings come first."""
        tried = {target for target, _ in self.rows[EQUAL]}
        named = [target for target in REGIMES[self.name].targets if target in tried]
        return sorted(named, key=lambda target: target not in CHOSEN_ON)

    @property
    def apart(self) -> list[str]:
        """Targets that chose no settings."""
        return [target for target in self.targets if target not in CHOSEN_ON]

    @property
    def seeds(self) -> int:
        """How many seeds some target has."""
        return len({seed for _, seed in self.rows[EQUAL]})

    @property
    def rivals(self) -> list[str]:
        """Rows that need to know no more than the default does."""
        known = (ALONE, PICKED, CEILING)
        return [row for row in self.rows if row not in known]

    def score(self, row: str, target: str) -> float | None:
        """The mean over seeds."""
        found = [cell.score for (each, _), cell in self.rows[row].items() if each == target]
        return mean(found) if found else None

    def over(self, row: str, other: str, *, targets: Container[str] | None = None) -> list[float]:
        """Points by which a row is above another, for every target and seed that both have."""
        theirs = self.rows.get(other, {})
        return [
            cell.score - theirs[case].score
            for case, cell in self.rows.get(row, {}).items()
            if case in theirs and (targets is None or case[0] in targets)
        ]

    def area(self, row: str) -> float | None:
        """The mean over targets and seeds."""
        found = [cell.area for cell in self.rows[row].values() if cell.area is not None]
        return mean(found) if found else None

    def cost(self, row: str) -> float:
        """In trainings with equal weights, of the cases that both have."""
        equal = self.rows[EQUAL]
        pairs = [(cell.cost, equal[c].cost) for c, cell in self.rows[row].items() if c in equal]
        return sum(ours for ours, _ in pairs) / sum(theirs for _, theirs in pairs)


def tables(records: Records) -> Iterable[Table]:
    """One for each regime that there are records of."""
    for name in REGIMES:
        encoders = {record["spec"]["encoder"] for record in records.matching(regime=name)}
        for encoder in sorted(encoders, key=str):
            table = Table.of(records, name, encoder=encoder)
            if EQUAL in table.rows:
                yield table


def _searched(records: Records, name: str, *, encoder: str | None) -> dict[Case, Cell]:
    """Of every case in which all that is searched has been trained."""
    if SINGLE not in REGIMES[name].methods:
        return {}
    tried: dict[Case, list[Record]] = {}
    for method in (PICKED, SINGLE):
        for record in records.matching(regime=name, encoder=encoder, method=method):
            tried.setdefault(_case(record), []).append(record)
    found = {}
    for case, several in tried.items():
        if len(several) == 1 + len(sources_of(name, case[0])):
            best = max(several, key=lambda record: record["dev"])
            cost = sum(record["processor_seconds"] for record in several)
            found[case] = Cell(score=100 * best["score"], area=None, cost=cost)
    return found


def _case(record: Record) -> Case:
    return record["spec"]["target"], record["spec"]["seed"]
