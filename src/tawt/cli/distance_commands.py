"""`tawt distance`: its options and its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tawt.cli.commands import MOST_SEEDS, Config, Device, Jobs, Json, Override, Overwrite, Quiet


def distance(
    config: Config,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="Where results go; runs/NAME-distance by default."),
    ] = None,
    override: Override = None,
    training: Annotated[
        bool,
        typer.Option(
            "--training/--no-training",
            help="Train for distances and gains, or only estimate from the model as it is.",
        ),
    ] = True,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="From every task to every other, not the target alone.")
    ] = False,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            "--weights",
            metavar="NAME=SOURCE:W,…",
            help="One more mixture of sources to measure; repeat for several.",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="Trainings of each.")] = 3,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """How far each source is from the target: measured by training, and estimated without.

    Estimates without training do not order sources by what they gain the target: they say which
    are likely to have the smaller trained distance. Training also says whether each source helps,
    hurts or makes no difference to the target, and whether more target data, more source data or
    better-matched sources would help most. Ctrl-C shows what is known so far. Every training and
    every estimate is kept when it is made, so run the same command to go on.
    """
    from tawt.cli import actions, distances
    from tawt.config.explaining import lines_of
    from tawt.distance.study import DistanceRequest

    request = DistanceRequest(
        weights=distances.given_weights(weights),
        seeds=range(seeds),
        training=training,
        matrix=matrix,
    )
    run_config = actions.loaded(config, override)
    with lines_of(config):
        distances.show_distances(
            run_config,
            folder,
            request=request,
            jobs=jobs,
            device=device,
            overwrite=overwrite,
            quiet=quiet,
            as_json=as_json,
        )
