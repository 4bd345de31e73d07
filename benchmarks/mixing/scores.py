"""Scores of some rows, by target and seed, and what they come to."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.mixing.choosing import CHOSEN_ON
from tawt.significance import interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.mixing.records import Records

Scores = dict[str, dict[str, dict[int, float]]]
"""Bits a byte on test text, by row, target and seed."""


def scores_of(records: Records, rows: Iterable[str], **where: Any) -> Scores:
    """Of all records of these rows whose specs have these values."""
    found: Scores = {}
    for name in rows:
        for record in records.matching(name=name, **where):
            for target, scores in record["scores"].items():
                by_target = found.setdefault(name, {})
                by_target.setdefault(target, {})[record["spec"]["seed"]] = scores["test"]
    return found


def common(found: Scores) -> tuple[list[str], list[int]]:
    """Targets and seeds that all rows have; targets that settings were chosen on come first."""
    targets = set.intersection(*(set(each) for each in found.values()))
    seeds = set.intersection(*(set(s) for each in found.values() for s in each.values()))
    return sorted(targets, key=lambda target: (target not in CHOSEN_ON, target)), sorted(seeds)


def gains(found: Scores, row: str, beside: str, target: str) -> list[float]:
    """Bits a byte by which a row is below another, for each seed that both have."""
    ours, others = found[row].get(target, {}), found[beside].get(target, {})
    return [others[seed] - ours[seed] for seed in sorted(ours) if seed in others]


def mean_gains(found: Scores, row: str, beside: str) -> list[float]:
    """The mean over targets, for each seed that both rows have on all of them."""
    targets, seeds = common({name: found[name] for name in (row, beside)})
    return [
        mean(found[beside][target][seed] - found[row][target][seed] for target in targets)
        for seed in seeds
    ]


def seeds_said(found: Scores) -> str:
    """How many seeds the numbers of a table are means of."""
    _, seeds = common(found)
    return "one seed" if len(seeds) == 1 else f"means of {len(seeds)} seeds"


def table_of(found: Scores, *, targets: Sequence[str] | None = None) -> Iterator[str]:
    """Means over seeds, a row each; nothing where a row has no score on a target."""
    targets = common(found)[0] if targets is None else targets
    yield ""
    yield f"| | {' | '.join(targets)} |"
    yield f"|---|{'---:|' * len(targets)}"
    for name, by_target in found.items():
        cells = [
            f"{mean(by_target[target].values()):.3f}" if target in by_target else ""
            for target in targets
        ]
        yield f"| {name} | {' | '.join(cells)} |"


def with_interval(values: Sequence[float], how: str) -> str:
    """The mean, and its 95% interval where there are several."""
    ends = interval(values) if len(values) > 1 else None
    said = _number(mean(values), how)
    return said if ends is None else f"{said} ({_number(ends[0], how)} to {_number(ends[1], how)})"


def _number(value: float, how: str) -> str:
    said = f"{value:{how}}"
    return said if float(said) else said.removeprefix("-")


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    Example:
        >>> listed(["a", "b", "c"])
        'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
