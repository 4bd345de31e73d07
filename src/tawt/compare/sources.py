"""What the rows of a comparison say of its sources, over all of their runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.report.sources import SourceShare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.compare.comparison import Comparison, RowResult

_ASKED = (
    *("weighted normalized joint", "learned then fine-tuning", "learned pre-training"),
    "learned weights",
)
"""Rows whose weights are what is asked for, the first of them that there is."""


def main_row(comparison: Comparison) -> RowResult | None:
    """The row whose weights are the answer; without any, the best that learns weights."""
    for name in _ASKED:
        row = comparison.row(name)
        if row is not None:
            return row
    learning = [row for row in comparison.rows if row.learns and row.weights]
    sign = comparison.measure.sign
    return max(learning, key=lambda row: sign * row.mean, default=None)


def verdicts_of(row: RowResult, *, runs: int) -> dict[str, str]:
    """What most runs say of each source.

    Args:
        row: Of a table.
        runs: How many it has.

    Example:
        >>> from tawt.compare import RowResult
        >>> findings = {"near": {"helps": 2, "cannot tell": 1}, "far": {"hurts": 1, "helps": 1}}
        >>> verdicts_of(RowResult("joint", [0.5], 0.5, 0.0, {}, findings=findings), runs=3)
        {'near': 'helps', 'far': 'cannot tell'}
    """
    return {
        name: next(
            (verdict for verdict in ("helps", "hurts") if 2 * counts.get(verdict, 0) > runs),
            "cannot tell",
        )
        for name, counts in row.findings.items()
    }


def row_sources(
    row: RowResult, records: Sequence[Mapping[str, Any]], *, target: str
) -> list[SourceShare]:
    """The sources of a row: mean shares, those of each run, and what most runs say.

    Args:
        row: Of a table.
        records: Of its runs.
        target: Which is no source, unless something was found out about it.
    """
    verdicts = verdicts_of(row, runs=len(records))
    found = []
    for name, share in row.weights.items():
        if name == target and name not in verdicts:
            continue
        verdict = verdicts.get(name, "")
        count = row.findings.get(name, {}).get(verdict, 0)
        found.append(
            SourceShare(
                name=name,
                share=share,
                interval=_mean_interval(records, name),
                singles=[record["weights"].get(name, 0.0) for record in records],
                verdict=verdict,
                sure=f"in {count} of {len(records)} runs" if verdict and count else "",
            )
        )
    return found


def _mean_interval(records: Sequence[Mapping[str, Any]], name: str) -> tuple[float, float] | None:
    """The mean over runs of either end, where every run knows it."""
    ends = [
        ends
        for record in records
        if (ends := record.get("findings", {}).get(name, {}).get("weight_interval"))
    ]
    if not ends or len(ends) < len(records):
        return None
    low, high = np.mean(ends, axis=0).tolist()
    return low, high
