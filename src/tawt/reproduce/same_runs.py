"""Numbers of a table that are the same runs, since the data has too few sentences for others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tawt.report.words import listed
from tawt.reproduce.plan import runs_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from tawt.reproduce.choices import Choice
    from tawt.reproduce.plan import TablePlan
    from tawt.reproduce.tagging import Setup

Spot = tuple[str, str]
"""Row and column of a number."""


def same_runs(plan: TablePlan, setup: Setup) -> dict[Spot, Spot]:
    """Where the runs of a number stand before it: in its own row if they do, else in any.

    Numbers that are the same runs in the paper too are not among them.

    Args:
        plan: Of the table.
        setup: What its runs share.
    """
    found: dict[Spot, Spot] = {}
    anywhere: dict[Hashable, tuple[Spot, Choice]] = {}
    for row in plan.rows:
        here: dict[Hashable, tuple[Spot, Choice]] = {}
        for column, cell in zip(plan.columns, row.cells, strict=True):
            if cell is None:
                continue
            spot, key = (row.name, column), _run_key(cell, setup)
            for known in (here, anywhere):
                first, wanted = known.setdefault(key, (spot, cell))
                if wanted != cell:
                    found.setdefault(spot, first)
    return found


def _run_key(choice: Choice, setup: Setup) -> Hashable:
    """The same for choices whose runs are the same once sizes are capped."""
    runs = (
        replace(run, sizes=tuple((task, setup.capped(task, size)) for task, size in run.sizes))
        for run in runs_of(choice)
    )
    return type(choice), tuple(runs)


def in_words(same: Mapping[Spot, Spot]) -> str:
    """Which numbers are which, row by row; rows of which the same is to be said together.

    Args:
        same: As `same_runs` has it.

    Example:
        >>> in_words({("a", "4"): ("a", "2"), ("b", "4"): ("b", "2"), ("c", "2"): ("a", "2")})
        'a and b: 4 as 2; c: 2 as in a'
    """
    by_row: dict[str, dict[str, list[str]]] = {}
    for (row, column), (other, first) in same.items():
        what = " as" if first == column else f" as {first}"
        where = "" if other == row else f" in {other}"
        by_row.setdefault(row, {}).setdefault(what + where, []).append(column)
    rows: dict[str, list[str]] = {}
    for row, said in by_row.items():
        text = ", ".join(listed(columns) + before for before, columns in said.items())
        rows.setdefault(text, []).append(row)
    return "; ".join(f"{listed(names)}: {text}" for text, names in rows.items())
