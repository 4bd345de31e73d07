"""What the terminal shows: tables, progress with time left, one line for an error."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

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


def complain(message: str) -> None:
    """One line on standard error."""
    err.print(Text.assemble(("error: ", "bold red"), " ".join(message.split())), soft_wrap=True)


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
    """The table of a comparison."""
    table = Table(
        title=f"{comparison.metric} on {comparison.target}, test examples (%), "
        f"{len(comparison.seeds)} seeds",
        title_justify="left",
        header_style="bold",
    )
    for heading in tables.HEADINGS:
        table.add_column(heading, justify="left" if heading in ("", "against") else "right")
    for row in comparison.rows:
        better = row.difference is not None and row.difference > 0
        clear = better and row.p_value is not None and row.p_value < 0.05
        shown = tables.cells(row, seeds=len(comparison.seeds))
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
