"""`tawt best`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from tawt.best import Budget, best, estimated, examined
from tawt.best.tables import CANDIDATES, candidate_cells, ranked
from tawt.best.words import in_words
from tawt.cli import console
from tawt.cli.actions import usual_sweep
from tawt.cli.time_left import runs_progress
from tawt.runs.folder import PAGE
from tawt.sweeps import stop_on_signals

if TYPE_CHECKING:
    from tawt.best import BestIntent, BestResult
    from tawt.config import RunConfig
    from tawt.runs import Options


def show_best(
    config: RunConfig,
    folder: Path | None,
    *,
    budget: str,
    dry_run: bool,
    jobs: int | None,
    options: Options,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find the best model, and show the answer first."""
    path = folder or Path("runs", f"{config.name}-best")
    sweep = usual_sweep(jobs, options.device)
    if dry_run:
        expected = estimated(
            examined(config), Budget.parsed(budget), workers=sweep.workers, device=options.device
        )
        console.say(f"{path}: {expected.in_words()}.")
        return
    with stop_on_signals() as should_stop, runs_progress(quiet=quiet) as bar:

        def announce(intent: BestIntent) -> None:
            if not quiet:
                console.note(intent.in_words())

        found = best(
            config,
            path,
            budget=budget,
            options=options,
            sweep=replace(sweep, should_stop=should_stop, on_progress=bar),
            on_start=announce,
        )
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
    elif not quiet:
        _show(found, path)


def _show(found: BestResult, folder: Path) -> None:
    verdict, *others = in_words(found, folder)
    console.say(verdict)
    for sentence in others:
        console.say(sentence)
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for place, heading in enumerate(CANDIDATES):
        table.add_column(
            Text(heading), justify="right" if 0 < place < len(CANDIDATES) - 1 else "left"
        )
    for each in ranked(found):
        table.add_row(*(console.cell(cell) for cell in candidate_cells(each, found)))
    console.out.print(table)
    console.say(f"Everything is in {folder}; open {folder / PAGE} in a browser.")
