"""The table of final weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.reproduce.captions import departures
from tawt.reproduce.paper import TASKS, paper, printed
from tawt.reproduce.plan import AGAINST, runs_of
from tawt.reproduce.result import Result
from tawt.reproduce.sizes import too_small
from tawt.reproduce.tables import made_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.reproduce.choices import Choice
    from tawt.reproduce.plan import TablePlan
    from tawt.reproduce.store import Store
    from tawt.reproduce.tagging import Setup

EXPERIMENT = "table-final-weights"


def weights_table(plan: TablePlan, setup: Setup, store: Store, seeds: Sequence[int]) -> Result:
    """Where the weights of the main table's weighted rows ended.

    Args:
        plan: Of the main table.
        setup: What its runs share.
        store: Where their records are.
        seeds: Of the runs.
    """
    lines, data = [], []
    for row in plan.rows:
        if row.name not in AGAINST:
            continue
        cells = [
            _multipliers(cell, target, store, setup, seeds)
            for cell, target in zip(row.cells, plan.targets, strict=True)
            if cell is not None
        ]
        theirs: Any = printed(EXPERIMENT, row.name)
        targets: Any = paper()[EXPERIMENT]["rows"].get(f"{row.name}, target")
        sources = [
            f"{_tuple(np.mean(mine, axis=0)[:3])} ({_tuple(their)})"
            for mine, their in zip(cells, theirs, strict=True)
        ]
        lines.append([row.name, *sources])
        if targets is not None:
            own = [
                f"{_short(np.mean(mine, axis=0)[3])} ({_short(their)})"
                for mine, their in zip(cells, targets, strict=True)
            ]
            lines.append([f"{row.name}, target", *own])
        data.append({"name": row.name, "multipliers": cells, "paper": theirs, "targets": targets})
    return Result(
        experiment=EXPERIMENT,
        title="Where the weights ended",
        said=[],
        headings=["", *plan.columns],
        rows=lines,
        caption=(
            "Final weights of the main table's runs, what an example of each task counts, made to "
            "sum to one as the paper prints them; mean over seeds; in brackets the paper's. "
            f"Sources in the order {', '.join(TASKS)}, without the target. Of weighted "
            "pre-training, the runs whose c was chosen. Here: "
            + "; ".join([*departures(setup, seeds), *_capped(plan, setup)])
            + "."
        ),
        data={
            "experiment": EXPERIMENT,
            "columns": list(plan.columns),
            "rows": data,
            **made_with(plan, setup, store, seeds),
        },
    )


def _capped(plan: TablePlan, setup: Setup) -> list[str]:
    short = [f"{task} {setup.available[task]}" for task in too_small(setup, plan.runs())]
    said = f"fewer sentences than the paper took, all that the data has ({', '.join(short)})"
    return [said] if short else []


def _multipliers(
    choice: Choice, target: str, store: Store, setup: Setup, seeds: Sequence[int]
) -> list[list[float]]:
    """By seed: what an example of each source, and last of the target, counts; sums to one."""
    sizes = dict(next(runs_of(choice)).sizes)
    found = []
    for seed in seeds:
        record = choice.record(seed, store)
        assert record is not None
        weights: dict[str, float] = record["weights"]
        order = [task for task in TASKS if task in weights and task != target]
        order += [target] if target in weights else []
        each = np.array([weights[task] / setup.capped(task, sizes[task]) for task in order])
        found.append((each / each.sum()).tolist())
    return found


def _tuple(values: Sequence[float]) -> str:
    return ", ".join(_short(value) for value in values)


def _short(value: float) -> str:
    """Two digits, or more where they would all be zeros or nines.

    Example:
        >>> _short(0.683), _short(0.00049), _short(0.9986)
        ('0.68', '0.0005', '0.9986')
    """
    if 0.995 <= value < 1 or value < 0.005:
        return f"{value:.4f}"
    return f"{value:.2f}"
