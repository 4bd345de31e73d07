"""The commands."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from tawt.cli import console
from tawt.errors import ConfigError, RunError
from tawt.report import comparison_page, markdown, runs_page
from tawt.studies import Comparison, Options, RunConfig, RunFolder, load_comparison, run
from tawt.studies import compare as compare_runs
from tawt.studies import load as load_config
from tawt.studies.compare import COMPARISON
from tawt.studies.demo import SEEDS, demo_config
from tawt.studies.files import write
from tawt.studies.stopping import stop_on_signals
from tawt.studies.words import in_words

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
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each row.")] = SEEDS,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """The whole story on scanned digits, in about a minute on two cores.

    Thirty labelled digits are to be read. Seven other datasets might help: three of them group
    digits, three have labels that mean nothing, one is not about digits. Which do help?
    """
    if not (quiet or as_json):
        console.say(
            "Thirty labelled digits are to be read, and seven other datasets might help. Three "
            "group digits (parity, magnitude, shape), three have labels that mean nothing "
            "(shuffled, coins, dice), one is not about digits (noise). Nobody tells the method "
            "which is which."
        )
    _compare(
        demo_config(),
        folder,
        rows=None,
        seeds=seeds,
        jobs=jobs,
        options=Options(overwrite=overwrite),
        quiet=quiet,
        as_json=as_json,
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
    loaded = load_config(config, _overrides(override))
    path = folder or Path("runs", loaded.name)
    options = Options(
        resume=resume,
        overwrite=overwrite,
        checkpoint_seconds=checkpoint_seconds,
        log_with=log_with,
    )
    with stop_on_signals() as should_stop, console.progress(quiet=quiet) as bar:
        shown = bar.add_task("training", total=None)
        record = run(
            loaded,
            path,
            options=options,
            on_progress=lambda now: bar.update(
                shown, completed=now.step, total=now.total, description=now.phase
            ),
            should_stop=should_stop,
        )
    write(path / "report.html", runs_page([path]))
    if as_json:
        typer.echo(json.dumps(record, indent=2))
    elif not quiet:
        console.out.print(console.weights_table(record["weights"], record["multipliers"]))
        for target, splits in record["scores"].items():
            for split, scores in splits.items():
                shown_scores = ", ".join(f"{name} {value:.4f}" for name, value in scores.items())
                console.say(f"{target}, {split}: {shown_scores}")
        console.say(f"Everything is in {path}; open {path / 'report.html'} in a browser.")


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
    loaded = load_config(config, _overrides(override))
    _compare(
        loaded,
        folder or Path("runs", loaded.name),
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
    first = runs[0]
    if len(runs) == 1 and (first / COMPARISON).exists():
        page = comparison_page(load_comparison(first), first)
    else:
        for path in runs:
            if (path / COMPARISON).exists():
                raise RunError(f"{path} is a comparison; report on it alone.")
            RunFolder(path).record()
        page = runs_page(runs)
    path = output or (first / "report.html" if len(runs) == 1 else Path("report.html"))
    write(path, page)
    console.say(f"Wrote {path}.")


def _compare(
    config: RunConfig,
    folder: Path,
    *,
    rows: list[str] | None,
    seeds: int,
    jobs: int | None,
    options: Options,
    quiet: bool,
    as_json: bool,
) -> None:
    with stop_on_signals() as should_stop, console.progress(quiet=quiet) as bar:
        shown = bar.add_task("runs", total=None)
        comparison = compare_runs(
            config,
            folder,
            rows=rows,
            seeds=range(seeds),
            workers=jobs or os.cpu_count() or 1,
            options=options,
            should_stop=should_stop,
            on_done=lambda done, total: bar.update(shown, completed=done, total=total),
        )
    write(folder / "comparison.md", markdown(comparison))
    write(folder / "report.html", comparison_page(comparison, folder))
    _show(comparison, folder, quiet=quiet, as_json=as_json)


def _show(comparison: Comparison, folder: Path, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(asdict(comparison), indent=2))
    elif not quiet:
        console.out.print(console.comparison_table(comparison))
        for sentence in in_words(comparison):
            console.say(sentence)
        console.say(f"Every run is in {folder}; open {folder / 'report.html'} in a browser.")


def _overrides(given: list[str] | None) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for item in given or []:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise ConfigError(
                f"An override is KEY=VALUE, such as training.batch_size=16; got {item!r}."
            )
        try:
            values[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ConfigError(f"The value of {name} is not YAML: {value!r}.") from error
    return values
