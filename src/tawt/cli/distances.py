"""`tawt distance`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from tawt.cli import console
from tawt.cli.actions import usual_sweep
from tawt.cli.time_left import measured_progress
from tawt.distance.page import HEADINGS, caption, sentences, table
from tawt.distance.study import DistanceRequest, measure_distances, prepared
from tawt.errors import ConfigError
from tawt.runs.folder import PAGE
from tawt.sweeps import stop_on_signals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.config import RunConfig

_COLOURS = {"use": "green", "skip": "red"}


def show_distances(
    config: RunConfig,
    folder: Path | None,
    *,
    request: DistanceRequest,
    jobs: int | None,
    device: str,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Measure, and show what was found."""
    path = folder or Path("runs", f"{config.name}-distance")
    stopped: list[dict[str, Any]] = []
    study = prepared(config, request)  # while nothing is written, Ctrl-C simply ends the command
    try:
        with stop_on_signals() as should_stop, measured_progress(quiet=quiet) as bar:
            shown = bar.add_task("", total=None)
            values = measure_distances(
                study,
                path,
                sweep=replace(usual_sweep(jobs, device), should_stop=should_stop),
                device=device,
                overwrite=overwrite,
                on_step=lambda step: bar.update(
                    shown, completed=step.done, total=step.total, description=step.doing
                ),
                on_stopped=stopped.append,
            )
    finally:
        if stopped and not (quiet or as_json):
            _show_so_far(stopped[0])
    if as_json:
        typer.echo(json.dumps(values, indent=2))
    elif not quiet:
        console.out.print(_table(values, title=f"how far from {values['target']}"))
        console.say(caption(values))
        for sentence in sentences(values):
            console.say(sentence)
        console.say(f"Everything is in {path}; open {path / PAGE} in a browser.")


def _show_so_far(values: dict[str, Any]) -> None:
    """The table as far as it goes."""
    if any(values["estimates"].values()) or any(values["trained"].values()):
        console.out.print(_table(values, title=f"how far from {values['target']}, so far"))
        console.say(caption(values))


def given_weights(items: Sequence[str] | None) -> dict[str, dict[str, float]]:
    """Mixtures from the command line.

    Example:
        >>> given_weights(["mostly=pos:0.75,chunk:0.25"])
        {'mostly': {'pos': 0.75, 'chunk': 0.25}}
    """
    found: dict[str, dict[str, float]] = {}
    for item in items or []:
        name, equals, pairs = item.partition("=")
        try:
            weights = {
                source: float(weight)
                for source, _, weight in (pair.rpartition(":") for pair in pairs.split(","))
            }
        except ValueError:
            weights = {}
        if not equals or not name or not weights or "" in weights:
            raise ConfigError(f"Weights are NAME=SOURCE:WEIGHT,SOURCE:WEIGHT; got {item!r}.")
        if name in found:
            raise ConfigError(f"Weights {name!r} are given twice; call one of them otherwise.")
        found[name] = weights
    return found


def _table(values: dict[str, Any], *, title: str) -> Table:
    """Narrow enough for eighty columns: one of the two losses."""
    found = Table(
        title=Text(title, style="table.title"),
        title_justify="left",
        header_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    rows = table(values)
    shown = [0, 3]
    if any(values["trained"].values()):
        shown = [0, 1 if any(row[1] for row in rows) else 2, 3, 4]
    for place in shown:
        found.add_column(HEADINGS[place], justify="right" if place else "left", no_wrap=True)
    if values["gains"]:
        found.add_column("verdict")
    for row in rows:
        cells = [Text(row[place]) for place in shown]
        if values["gains"]:
            cells.append(Text.assemble(row[5], "\n", (row[6], "dim")))
        found.add_row(*cells, style=_COLOURS.get(row[6]))
    return found
