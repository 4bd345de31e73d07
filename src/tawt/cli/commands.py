"""The commands: their options and their help.

What they do is in `tawt.cli.actions`, which is imported when a command runs: help and shell
completion must not wait for torch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[Path, typer.Argument(help="The YAML file that describes the run.")]
Override = Annotated[
    list[str] | None,
    typer.Option("-o", "--override", metavar="KEY=VALUE", help="Replace a value of the file."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Start again, even if finished.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no tables; only errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
LogWith = Annotated[
    str | None, typer.Option("--log-with", help="Experiment tracker, such as tensorboard.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Runs at a time; one per core by default.")
]
CheckpointSeconds = Annotated[
    float, typer.Option("--checkpoint-seconds", min=0, help="Seconds between checkpoints.")
]


def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where the runs go.")] = Path("runs/demo"),
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each row.")] = 5,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """The whole story on scanned digits, in about a minute on two cores.

    Thirty labelled digits are to be read. Seven other datasets might help: three of them group
    digits, three have labels that mean nothing, one is not about digits. Which do help?
    """
    from tawt.cli import actions

    actions.show_demo(
        folder, seeds=seeds, jobs=jobs, overwrite=overwrite, quiet=quiet, as_json=as_json
    )


def train(
    config: Config,
    folder: Annotated[
        Path | None, typer.Option("--out", help="The run's folder; runs/NAME by default.")
    ] = None,
    override: Override = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    checkpoint_seconds: CheckpointSeconds = 60.0,
    log_with: LogWith = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train the target model as CONFIG says: one run, one folder."""
    from tawt.cli import actions
    from tawt.studies import Options

    options = Options(
        resume=resume,
        overwrite=overwrite,
        checkpoint_seconds=checkpoint_seconds,
        log_with=log_with,
    )
    run_config = actions.loaded(config, override)
    actions.train_once(run_config, folder, options=options, quiet=quiet, as_json=as_json)


def compare(
    config: Config,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Where the runs go; runs/NAME by default.")
    ] = None,
    override: Override = None,
    row: Annotated[
        list[str] | None, typer.Option("--row", help="A way of training; repeat for several.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each row.")] = 5,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    log_with: LogWith = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Set the paradigms beside each other, plain and weighted, over several seeds.

    Runs that are finished are not run again, so an interrupted comparison goes on where it was.
    """
    from tawt.cli import actions
    from tawt.studies import Options

    actions.compare_rows(
        actions.loaded(config, override),
        folder,
        rows=row,
        seeds=seeds,
        jobs=jobs,
        options=Options(overwrite=overwrite, log_with=log_with),
        quiet=quiet,
        as_json=as_json,
    )


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, or the folder of a comparison.")],
    output: Annotated[
        Path | None,
        typer.Option("--out", help="The page; report.html in the folder, or here for several."),
    ] = None,
) -> None:
    """Build the page again from what is in the folders."""
    from tawt.cli import actions

    actions.build_report(runs, output)
