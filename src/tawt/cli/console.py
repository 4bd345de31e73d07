"""What the terminal shows: tables, progress with time left, one line for an error."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tawt.cli.plain import plain as plain  # noqa: PLC0414 - shown by others as well
from tawt.cli.plain import plain_lines as plain_lines  # noqa: PLC0414 - the same
from tawt.cli.progress_lines import ProgressLines
from tawt.cli.shortening import largest, more
from tawt.compare import tables
from tawt.report.words import interval_of, times, verdict_and_chance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.console import ConsoleOptions, RenderableType
    from rich.progress import ProgressColumn, TaskID

    from tawt.compare import Comparison, RowResult


class _PlainConsole(Console):
    """Shows whatever it is given without letting the terminal obey it."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else plain_lines(segment.text)
            yield segment if text == segment.text else Segment(text, segment.style)


out = _PlainConsole(highlight=False)
err = _PlainConsole(stderr=True, highlight=False)


def say(message: str) -> None:
    """A sentence on standard output."""
    out.print(Text(plain_lines(message)), soft_wrap=True)


def note(message: str) -> None:
    """A sentence on standard error, beside data on standard output."""
    err.print(Text(plain_lines(message)), soft_wrap=True)


def write(data: str) -> None:
    """Data on standard output: as it is for a file or another program, safe for a terminal."""
    sys.stdout.write(plain_lines(data) if sys.stdout.isatty() else data)


def cell(text: str) -> Text:
    """A cell of a table: no markup, nothing that a terminal obeys."""
    return Text(plain(text))


class _Bar(Progress):
    """One that is disabled draws nothing, and may write lines instead."""

    lines: ProgressLines | None = None

    def stop(self) -> None:
        """Rich older than 14.3 ends a disabled bar with an empty line in files and pipes."""
        if not self.disable:
            super().stop()

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """Rich's own, which `advance` does not come by."""
        super().update(task_id, **changes)
        self._tell(task_id)

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        """Rich's own."""
        super().advance(task_id, advance)
        self._tell(task_id)

    def _tell(self, task_id: TaskID) -> None:
        if self.lines is not None:
            self.lines.tell(self._tasks[task_id])


def progress_bar(*columns: ProgressColumn, quiet: bool) -> Progress:
    """A bar with a description and these columns; elsewhere than on a terminal a line at times."""
    bar = _Bar(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *columns,
        console=err,
        speed_estimate_period=3600,  # seconds: runs may be minutes apart
        disable=quiet or not err.is_terminal,
        transient=True,
    )
    if not quiet and not err.is_terminal:
        bar.lines = ProgressLines(note)
    return bar


@contextmanager
def progress(*, quiet: bool) -> Iterator[Progress]:
    """A bar with time left, on a terminal; lines elsewhere, and nothing when asked to be quiet."""
    with progress_bar(
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        quiet=quiet,
    ) as bar:
        yield bar


def comparison_table(comparison: Comparison) -> Table:
    """The table of a comparison, narrow enough for eighty columns."""
    lower = ", lower is better" if comparison.measure.lower_is_better else ""
    table = Table(
        title=Text(  # no markup in a target's name
            plain(
                f"{comparison.metric} on {comparison.target}, test examples "
                f"({comparison.measure.title}{lower}), "
                f"{len(comparison.seeds)} seeds"
            ),
            style="table.title",
        ),
        title_justify="left",
        caption="Second lines: the row it should beat, passes over the target's examples, and what "
        "a paired bootstrap says. Both p are on test examples, and Holm-corrected.",
        caption_justify="left",
        header_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("")
    table.add_column("score\npasses", justify="right", no_wrap=True)
    table.add_column("gain\n95% interval", justify="right", no_wrap=True)
    table.add_column("better\non", justify="right", no_wrap=True)
    table.add_column("p t-test\nbootstrap", justify="right", no_wrap=True)
    for row in comparison.rows:
        name, mean, spread, passes, against, gain, interval, better, p, p_bootstrap, _ = (
            tables.cells(row, seeds=len(comparison.seeds), measure=comparison.measure)
        )
        table.add_row(
            _two_lines(name, f"over {against}" if against else ""),
            _two_lines(f"{mean} {spread}", passes),
            _two_lines(gain, interval),
            Text(better),
            _two_lines(p, p_bootstrap),
            style="green" if _clear(row) else None,
        )
    return table


def _two_lines(first: str, second: str) -> Text:
    return Text.assemble(plain(first), "\n", (plain(second), "dim")) if second else cell(first)


def _clear(row: RowResult) -> bool:
    """A gain that both tests find on other test examples too."""
    p_values = [p for p in (row.p_value, row.p_bootstrap) if p is not None]
    return (row.difference or 0) > 0 and bool(p_values) and max(p_values) < 0.05


def weights_table(
    weights: Mapping[str, float],
    multipliers: Mapping[str, float],
    passes: Mapping[str, float],
    findings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Table:
    """Final weights, read both ways, passes, and what was found of each source.

    Of many tasks those with the largest weights.
    """
    table = Table(title="final weights", title_justify="left", header_style="bold")
    found = findings or {}
    ends = {name: interval_of(finding) for name, finding in found.items()}
    table.add_column("task")
    table.add_column("share ω\n90% interval" if any(ends.values()) else "share ω", justify="right")
    table.add_column("multiplier of\neach example", justify="right")
    table.add_column("passes", justify="right")
    if found:
        table.add_column("effect on\nthe target")
    shown = largest(weights)
    for name in shown:
        had = times(passes[name]) if name in passes else ""
        share = _two_lines(f"{weights[name]:.4f}", ends.get(name, ""))
        said = [_two_lines(*verdict_and_chance(found.get(name)))] if found else []
        table.add_row(cell(name), share, f"{multipliers[name]:.3g}", had, *said)
    if len(shown) < len(weights):
        rest = sum(share for name, share in weights.items() if name not in shown)
        table.add_row(more(len(weights) - len(shown)), f"{rest:.4f}")
    return table
