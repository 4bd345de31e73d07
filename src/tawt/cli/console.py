"""What the terminal shows: tables, progress with time left, one line for an error."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from tawt.report import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tawt.studies import Comparison

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def say(message: str) -> None:
    """A sentence on standard output, as it is."""
    out.print(Text(message), soft_wrap=True)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Progress]:
    """A bar with time left, on a terminal; silent elsewhere, and when asked to be."""
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=err,
        disable=quiet or not err.is_terminal,
        transient=True,
    )
    with bar:
        yield bar


def comparison_table(comparison: Comparison) -> Table:
    """The table of a comparison, narrow enough for eighty columns."""
    table = Table(
        title=f"{comparison.metric} on {comparison.target}, test examples (%), "
        f"{len(comparison.seeds)} seeds",
        title_justify="left",
        header_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("")
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("gain", justify="right", no_wrap=True)
    table.add_column("over")
    table.add_column("better on", justify="right", no_wrap=True)
    table.add_column("p (Holm)", justify="right", no_wrap=True)
    for row in comparison.rows:
        clear = (row.difference or 0) > 0 and row.p_value is not None and row.p_value < 0.05
        name, mean, spread, against, gain, better, p, _ = tables.cells(
            row, seeds=len(comparison.seeds)
        )
        shown = (name, f"{mean} {spread}", gain, against, better, p)
        table.add_row(*(Text(cell) for cell in shown), style="green" if clear else None)
    return table


def weights_table(weights: dict[str, float], multipliers: dict[str, float]) -> Table:
    """Final weights, read both ways."""
    table = Table(title="final weights", title_justify="left", header_style="bold")
    table.add_column("task")
    table.add_column("share ω", justify="right")
    table.add_column("multiplier of each example", justify="right")
    for name, share in weights.items():
        table.add_row(Text(name), f"{share:.4f}", f"{multipliers[name]:.3g}")
    return table
