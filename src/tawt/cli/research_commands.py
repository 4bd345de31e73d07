"""The commands of those who doubt the paper: their options and their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tawt.cli.commands import MOST_SEEDS, Device, Jobs, Json, Quiet


def reproduce(
    experiment: Annotated[
        str | None, typer.Argument(metavar="ID", help="Which table or figure; see --list.")
    ] = None,
    show_list: Annotated[
        bool,
        typer.Option(
            "--list", help="List the experiments: what each is, needs, and how many runs."
        ),
    ] = False,
    data: Annotated[Path | None, typer.Option("--data", help="The folder of the data.")] = None,
    layout: Annotated[
        str | None,
        typer.Option(
            help="Which file of it is which task: open, ontonotes, or a YAML file of yours.",
            show_default="open",
        ),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option("--encoder", help="A hub name, a folder, or package:NAME.")
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(help="figure-weighted-samples: glove.6B.50d.txt, or package:NAME."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_SEEDS, help="Runs of each number.", show_default="1"),
    ] = None,
    cap: Annotated[
        bool, typer.Option("--cap", help="Take the largest possible where the data has too few.")
    ] = False,
    scale: Annotated[
        Literal["paper", "tiny"],
        typer.Option(help="The paper's sizes, or generated data and a tiny encoder."),
    ] = "paper",
    learning_rate: Annotated[
        float | None, typer.Option(help="Instead of the paper's 5e-5.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, help="Instead of the paper's 4.")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(min=1, max=65_536, help="Instead of the paper's 32.")
    ] = None,
    precision: Annotated[
        Literal["fp32", "bf16"] | None, typer.Option(help="Instead of the paper's fp32.")
    ] = None,
    sampling: Annotated[
        Literal["size", "weight"] | None,
        typer.Option(help="How steps are drawn, instead of the paper's by size."),
    ] = None,
    folder: Annotated[Path, typer.Option("--out", help="Where runs and tables go.")] = Path(
        "runs/reproduce"
    ),
    jobs: Jobs = None,
    part: Annotated[
        str | None,
        typer.Option(metavar="K/N", help="Make one of N parts of the runs; the folder is shared."),
    ] = None,
    keep_models: Annotated[
        bool, typer.Option("--keep-models", help="Keep every run's model, not only its scores.")
    ] = False,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make a table or figure of the paper from your data and encoder, beside the paper's numbers.

    Runs are made once, however many experiments need them; run the same command again to go on
    after a stop. A table says where it departs from the paper.
    """
    from tawt.cli import reproducing
    from tawt.errors import ConfigError

    if show_list:
        reproducing.list_experiments(as_json_lines=as_json)
        return
    if experiment is None:
        raise ConfigError("Name an experiment; `tawt reproduce --list` shows them.")
    given = {
        "learning_rate": learning_rate,
        "batch_size": batch_size,
        "precision": precision,
        "sampling": sampling,
    }
    options = reproducing.ReproduceOptions(
        data=data,
        layout=layout,
        encoder=encoder,
        vectors=vectors,
        seeds=seeds,
        cap=cap,
        tiny=scale == "tiny",
        epochs=epochs,
        training={name: value for name, value in given.items() if value is not None},
    )
    reproducing.reproduce_named(
        experiment,
        options,
        folder,
        jobs=jobs,
        device=device,
        part=part,
        keep_models=keep_models,
        quiet=quiet,
        as_json_lines=as_json,
    )
