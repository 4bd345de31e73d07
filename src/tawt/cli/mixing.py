"""`tawt mix`."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from tawt.cli import console
from tawt.cli.actions import usual_sweep
from tawt.cli.shortening import largest, more
from tawt.cli.time_left import runs_progress
from tawt.cli.where import announced
from tawt.mix import Intent, mix
from tawt.mix.tables import CORPORA, LOSSES, corpus_cells, loss_cells, percent
from tawt.mix.words import in_words
from tawt.runs import Options
from tawt.runs.folder import PAGE
from tawt.sweeps import stop_on_signals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.config import RunConfig
    from tawt.mix import MixResult


@dataclass(frozen=True, kw_only=True)
class MixRequest:
    """How much to find out, and for what."""

    seeds: int
    budget: str | None
    tokens: str | None
    resume: bool


def show_mix(
    config: RunConfig,
    folder: Path | None,
    *,
    request: MixRequest,
    jobs: int | None,
    device: str,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find the mixture, and show the answer first."""
    path = folder or Path("runs", f"{config.name}-mix")
    with stop_on_signals() as should_stop, runs_progress(quiet=quiet) as bar:
        bar.describe("measuring speed")

        def announce(intent: Intent) -> None:
            bar.expect(intent.seconds)
            if not quiet:
                console.note(intent.in_words())

        sweep = replace(usual_sweep(jobs, device), should_stop=should_stop, on_progress=bar)
        found = mix(
            config,
            path,
            seeds=request.seeds,
            budget=request.budget,
            tokens=request.tokens,
            resume=request.resume,
            options=Options(overwrite=overwrite, device=device),
            sweep=announced(sweep, device, quiet=quiet or as_json),
            on_plan=announce,
        )
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
    elif not quiet:
        _show(found, path)


def _show(found: MixResult, folder: Path) -> None:
    verdict, *others = in_words(found)
    console.say(verdict)
    console.out.print(_table(CORPORA, _corpora(found)))
    console.out.print(_table(LOSSES, [loss_cells(row, found) for row in found.losses]))
    for sentence in others:
        console.say(sentence)
    console.say(
        f"The mixture is in {folder / 'mixture.yaml'} and mixture.json; open {folder / PAGE} in a "
        "browser."
    )


def _corpora(found: MixResult) -> list[tuple[str, ...]]:
    """Rows of sources, of many those that are used the most."""
    every = {corpus.name: corpus.probability for corpus in found.corpora}
    shown = largest(every)
    rows = [corpus_cells(corpus) for corpus in found.corpora if corpus.name in shown]
    if len(shown) < len(every):
        rest = sum(each for name, each in every.items() if name not in shown)
        rows.append((more(len(every) - len(shown)), percent(rest)))
    return rows


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    found = Table(header_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for place, heading in enumerate(headings):
        found.add_column(Text(heading), justify="right" if place else "left")
    for row in rows:
        found.add_row(*(console.cell(cell) for cell in row))
    return found
