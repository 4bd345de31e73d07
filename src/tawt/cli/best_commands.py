"""`tawt best`: its options and its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tawt.cli.commands import (
    CheckpointSeconds,
    Config,
    Device,
    Jobs,
    Json,
    Override,
    Overwrite,
    Quiet,
)


def best(
    config: Config,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Where the runs go; runs/NAME-best by default.")
    ] = None,
    override: Override = None,
    budget: Annotated[
        str,
        typer.Option(help="A time (90s, 30m, 2h), or a number of candidates (12)."),
    ] = "12",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how long it takes and how much room; stop there.")
    ] = False,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    checkpoint_seconds: CheckpointSeconds = 60.0,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """The best model for the target of CONFIG within a budget, with other data only if it helps.

    Candidates are the target alone and ways to use the sources: all, some or one of them, before
    the target or beside it, with equal or learned weights, at several learning rates. Each is tried
    on parts of the target's examples that it was not trained on. The best is used if the
    probability that it is worse than the target alone is under 10%, else the target alone is. Test
    examples are scored once, at the end.

    Runs that are finished are not made again: run the same command to go on after a stop, or with
    a larger --budget to try more.
    """
    from tawt.cli import actions, searching
    from tawt.config.explaining import lines_of
    from tawt.runs import Options

    run_config = actions.loaded(config, override)
    with lines_of(config):
        searching.show_best(
            run_config,
            folder,
            budget=budget,
            dry_run=dry_run,
            jobs=jobs,
            options=Options(
                overwrite=overwrite, checkpoint_seconds=checkpoint_seconds, device=device
            ),
            quiet=quiet,
            as_json=as_json,
        )
