"""`tawt mix`: its options and its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tawt.cli.commands import (
    MOST_SEEDS,
    Config,
    Device,
    Jobs,
    Json,
    Override,
    Overwrite,
    Quiet,
)


def mix(
    config: Config,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Where the runs go; runs/NAME-mix by default.")
    ] = None,
    override: Override = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="For all runs together: a time (90s, 10m, 2h) or a number of tokens (500K, 20M, "
            "1B); by default runs are as long as the file says.",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, max=MOST_SEEDS, help="Runs of each kind of weights.")
    ] = 3,
    tokens: Annotated[
        str | None,
        typer.Option(help="How much the mixture is for (1B, say); one run here by default."),
    ] = None,
    jobs: Jobs = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Refuse to start anew: go on with what is there.")
    ] = False,
    overwrite: Overwrite = False,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Which corpora, and how much of each, for the target of CONFIG.

    The model of CONFIG, a small one, is trained on the sources with equal weights, with weights by
    size, and with learned weights, over several seeds. The answer is a probability for each source,
    how often that repeats it, and what it gains on the target's held-out text. The folder has it
    ready to use: mixture.yaml, mixture.json, report.html.

    Runs that are finished are not made again: run the same command to go on after a stop, or with
    more --seeds.
    """
    from tawt.cli import actions, mixing
    from tawt.config.explaining import lines_of

    request = mixing.MixRequest(seeds=seeds, budget=budget, tokens=tokens, resume=resume)
    run_config = actions.loaded(config, override)
    with lines_of(config):
        mixing.show_mix(
            run_config,
            folder,
            request=request,
            jobs=jobs,
            device=device,
            overwrite=overwrite,
            quiet=quiet,
            as_json=as_json,
        )
