"""What the commands do: call the library, and print what it says."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
import typer

from tawt.best import load_best
from tawt.best.page import best_page
from tawt.best.result import BEST
from tawt.cli import console, together
from tawt.cli.collecting import collect_as_usual
from tawt.cli.previewing import show_first
from tawt.cli.time_left import runs_progress
from tawt.cli.where import announced, run_place
from tawt.compare import compare, load_comparison
from tawt.compare.demo import DEMO_ROWS, TAGGING_ROWS, demo_config, tagging_config
from tawt.compare.folder import COMPARISON
from tawt.compare.page import comparison_page
from tawt.compare.words import in_words
from tawt.config import load
from tawt.config.explaining import shown
from tawt.config.rows import chosen, every_row
from tawt.config.yaml_file import read_value
from tawt.distance.folder import DISTANCE, checked_distances, load_distance
from tawt.distance.page import distance_page
from tawt.errors import ConfigError, RunError
from tawt.files.locks import locked
from tawt.files.whole import write
from tawt.mix import load_mix
from tawt.mix.page import mix_page
from tawt.mix.result import MIX
from tawt.runs import Options, RunFolder, run
from tawt.runs.folder import PAGE
from tawt.runs.page import runs_page
from tawt.sweeps import Sweep, stop_on_signals
from tawt.training.devices import gpus_to_spread_over, visible_gpus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tawt.compare import Comparison
    from tawt.config import RunConfig
    from tawt.tasks import Task

_STORY = (
    "Thirty labelled digits are to be read, and seven other datasets might help. Three group "
    "digits (parity, magnitude, shape), three have labels that mean nothing (shuffled, coins, "
    "dice), one is not about digits (noise). Nobody tells the method which is which."
)
_TAGGING_STORY = (
    "Phrases (of nouns, of verbs, …) are to be found in web text from twenty labelled sentences. "
    "News might help: it is annotated with parts of speech, predicates and names, and once with "
    "tags out of order (shuffled). Nobody tells the method which is which."
)


def show_demo(
    what: Literal["digits", "tagging"],
    folder: Path,
    *,
    seeds: int,
    jobs: int | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Tell the story, make the runs, show the table."""
    if what == "digits":
        story, rows, config = _STORY, DEMO_ROWS, demo_config()
    else:
        story, rows, config = _TAGGING_STORY, TAGGING_ROWS, tagging_config(folder / "encoder")
    if not (quiet or as_json):
        console.say(story)
    compare_rows(
        config,
        folder,
        rows=rows,
        seeds=seeds,
        jobs=jobs,
        options=Options(overwrite=overwrite),
        quiet=quiet,
        as_json=as_json,
    )


def train_once(
    config: RunConfig, folder: Path | None, *, options: Options, quiet: bool, as_json: bool
) -> None:
    """Make one run and its page; of several processes the first shows it."""
    if not together.is_first():
        quiet, as_json = True, False
    path = folder or Path("runs", config.name)

    speaks = not (quiet or as_json)

    def begin(tasks: Sequence[Task]) -> None:
        collect_as_usual()
        if speaks:
            show_first(tasks, config.targets)

    def name_device(device: torch.device) -> None:
        if speaks:
            console.note(run_place(device))

    with stop_on_signals() as should_stop, console.progress(quiet=quiet) as bar:
        shown = bar.add_task("training", total=None)
        record = run(
            config,
            path,
            options=options,
            on_progress=lambda now: bar.update(
                shown, completed=now.step, total=now.total, description=now.phase
            ),
            should_stop=should_stop,
            on_tasks=begin,
            on_device=name_device,
        )
    if as_json:
        typer.echo(json.dumps(record, indent=2))
    elif not quiet:
        _show_record(record, path)


def _show_record(record: dict[str, Any], folder: Path) -> None:
    final = record["weights"], record["multipliers"], record.get("passes", {})
    table = console.weights_table(*final, findings=record.get("findings", {}))
    console.out.print(table)
    for target, splits in record["scores"].items():
        for split, scores in splits.items():
            known = {name: value for name, value in scores.items() if value is not None}
            listed = ", ".join(f"{name} {value:.4f}" for name, value in known.items())
            console.say(f"{target}, {split}: {listed}")
    console.say(f"Everything is in {folder}; open {folder / PAGE} in a browser.")


def rows_asked_for(config: RunConfig, names: Sequence[str] | None, *, every: bool) -> list[str]:
    """Names of the rows of a comparison.

    Args:
        config: What all runs share.
        names: Those named on the command line.
        every: Whether all that make sense are wanted.

    Raises:
        ConfigError: Both are given, or a name is of no row.
    """
    if every and names:
        raise ConfigError("--all is every row, and --row names some; give one of the two.")
    return [row.name for row in (every_row(config) if every else chosen(names, config))]


def compare_rows(
    config: RunConfig,
    folder: Path | None,
    *,
    rows: Sequence[str] | None,
    seeds: int,
    jobs: int | None,
    options: Options,
    quiet: bool,
    as_json: bool,
    show: Callable[[Comparison, Path], None] | None = None,
) -> None:
    """Make all runs of a comparison, its table and its page.

    Args:
        config: What all runs share.
        folder: Where they go; runs/NAME by default.
        rows: Names of the table's rows.
        seeds: Runs of each row.
        jobs: Runs at a time.
        options: How to run.
        quiet: Whether nothing is shown.
        as_json: Whether the table is printed as JSON instead.
        show: Shows the table; the table and its sentences by default.
    """
    path = folder or Path("runs", config.name)
    with stop_on_signals() as should_stop, runs_progress(quiet=quiet) as tell:
        sweep = replace(
            usual_sweep(jobs, options.device), should_stop=should_stop, on_progress=tell
        )
        comparison = compare(
            config,
            path,
            rows=rows,
            seeds=range(seeds),
            options=options,
            sweep=announced(sweep, options.device, quiet=quiet or as_json),
        )
    if as_json:
        typer.echo(json.dumps(asdict(comparison), indent=2))
    elif not quiet:
        (show or _show)(comparison, path)


def usual_sweep(jobs: int | None, device: str) -> Sweep:
    """How runs are made side by side.

    Args:
        jobs: Runs at a time; by default one for each core, and on GPUs one for each of them, since
            runs would share its memory.
        device: What the user wants; runs are spread over GPUs where it names none of them.
    """
    gpus = gpus_to_spread_over(device, visible=visible_gpus())
    on_gpu = torch.cuda.is_available() and device != "cpu"
    return Sweep(workers=jobs or len(gpus) or (1 if on_gpu else os.cpu_count() or 1), gpus=gpus)


def build_report(runs: Sequence[Path], output: Path | None) -> None:
    """Write the page of a question's answer, or of one or several runs."""
    first = runs[0]
    answer = _answer_in(first)
    if len(runs) == 1 and answer is not None:
        page = _PAGES[answer](first)
    else:
        for path in runs:
            if _answer_in(path) is not None:
                raise RunError(f"{path} is no single run; report on it alone.")
            RunFolder(path).record()
        page = runs_page(runs)
    path = output or (first / PAGE if len(runs) == 1 else Path("report.html"))
    # A page in the folder is a file of the folder, whose writer may be at work.
    with contextlib.nullcontext() if output is not None or len(runs) > 1 else locked(first):
        write(path, page)
    console.say(f"Wrote {path}.")


_PAGES: dict[str, Callable[[Path], str]] = {
    COMPARISON: lambda folder: comparison_page(load_comparison(folder), folder),
    DISTANCE: lambda folder: distance_page(
        checked_distances(load_distance(folder), folder / DISTANCE)
    ),
    MIX: lambda folder: mix_page(load_mix(folder), folder),
    BEST: lambda folder: best_page(load_best(folder), folder),
}
"""Of each question, by the file with its answer."""


def _answer_in(folder: Path) -> str | None:
    """The file with the answer of a question, if the folder is that of one."""
    return next((name for name in _PAGES if (folder / name).exists()), None)


def loaded(config: Path, overrides: Sequence[str] | None) -> RunConfig:
    """The configuration in a file, with some values replaced."""
    values: dict[str, Any] = {}
    for item in overrides or []:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise ConfigError(
                f"An override is KEY=VALUE, such as training.batch_size=16; got {shown(item)}."
            )
        try:
            values[name] = read_value(value)
        except ConfigError as error:
            raise ConfigError(
                f"-o {shown(name)[1:-1]}: {shown(value)} is not YAML: {error}"
            ) from error
    return load(config, values)


def _show(comparison: Comparison, folder: Path) -> None:
    sentences = in_words(comparison)
    for verdict in sentences[:1]:
        console.say(verdict)
    console.out.print(console.comparison_table(comparison))
    for sentence in sentences[1:]:
        console.say(sentence)
    console.say(f"Every run is in {folder}; open {folder / PAGE} in a browser.")
