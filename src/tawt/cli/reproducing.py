"""`tawt reproduce`."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from tawt.cli import console
from tawt.cli.actions import usual_sweep
from tawt.cli.time_left import runs_progress
from tawt.config.explaining import lines_of
from tawt.errors import ConfigError, RunError, suggestion
from tawt.reproduce import EXPERIMENTS, Request, Setup, Store, is_made, make
from tawt.reproduce.leaving import write_result
from tawt.reproduce.request import load_request, save_request
from tawt.reproduce.writing import as_json
from tawt.sweeps import Sweep, stop_on_signals
from tawt.training import Settings

if TYPE_CHECKING:
    from tawt.reproduce import Experiment, Result

_TINY_BRINGS = ("--data", "--layout", "--cap", "--encoder")
_WIDEST = 7  # columns that a terminal has room for; more are shown as lines


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """What the command line says about data and settings."""

    data: Path | None
    layout: str | None
    encoder: str | None
    vectors: str | None
    seeds: int | None
    cap: bool
    tiny: bool
    epochs: int | None
    training: dict[str, Any]

    @property
    def changes_settings(self) -> bool:
        """Whether training is to be other than the paper's."""
        return bool(self.training) or self.epochs is not None


def list_experiments(*, as_json_lines: bool) -> None:
    """What there is."""
    if as_json_lines:
        typer.echo(
            json.dumps(
                {
                    name: {"title": each.title, "needs": each.needs, "runs": each.runs}
                    for name, each in EXPERIMENTS.items()
                },
                indent=2,
            )
        )
        return
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
    for heading in ("experiment", "what", "needs", "runs per seed"):
        table.add_column(heading, no_wrap=heading == "experiment")
    for name, each in EXPERIMENTS.items():
        table.add_row(Text(name), Text(each.title), Text(each.needs), Text(each.runs))
    console.out.print(table)
    console.say(
        "How long a run takes depends on data, encoder and machine; the bar shows the time left. "
        "--scale tiny makes any experiment on generated data, with a tiny encoder."
    )


def reproduce_named(
    name: str,
    options: ReproduceOptions,
    folder: Path,
    *,
    jobs: int | None,
    device: str,
    part: str | None,
    keep_models: bool,
    quiet: bool,
    as_json_lines: bool,
) -> None:
    """Make an experiment's runs, its table and its page."""
    experiment = EXPERIMENTS.get(name)
    if experiment is None:
        raise ConfigError(f"There is no experiment {name!r}; {suggestion(name, EXPERIMENTS)}")
    _check_options(experiment, options, jobs=jobs, keep_models=keep_models)
    this_part = _part(part)
    request = _asked_before(experiment, options, folder)
    if request is not None:
        _check_only_named(experiment, options, part=part, keep_models=keep_models)
        if not is_made(experiment, request, Store(folder)):
            raise RunError(
                f"Records of {name} are missing in {folder}; give --data and what else it needs to "
                "make those runs."
            )
        result = experiment.result(request, Store(folder))
        _tell(result, write_result(result, folder), quiet=quiet, as_json_lines=as_json_lines)
        return
    with _layout_lines_named(options):
        request = requested(options, folder)
        experiment.check(request)
    made = _run_experiment(
        experiment,
        request,
        Store(folder),
        jobs=jobs,
        device=device,
        part=this_part,
        keep_models=keep_models,
        quiet=quiet,
    )
    if made is None:
        if not quiet and not as_json_lines:
            console.say(
                "This part is made. When all parts are, run the command without --part for the "
                "table."
            )
        return
    save_request(request, folder / name)
    _tell(made, write_result(made, folder), quiet=quiet, as_json_lines=as_json_lines)


def _check_options(
    experiment: Experiment, options: ReproduceOptions, *, jobs: int | None, keep_models: bool
) -> None:
    """Refuse what would have no effect."""
    if "--encoder" not in experiment.needs and options.changes_settings:
        raise ConfigError(
            f"{experiment.name} has settings of its own; leave out --learning-rate, --epochs, "
            "--batch-size, --precision and --sampling."
        )
    flags = {
        "--data": options.data,
        "--layout": options.layout,
        "--cap": options.cap or None,
        "--encoder": options.encoder,
        "--vectors": options.vectors,
        "--jobs": jobs,
        "--keep-models": keep_models or None,
    }
    given = [option for option, value in flags.items() if value is not None]
    useless = [option for option in given if option in experiment.no_use_for]
    if useless:
        raise ConfigError(f"{experiment.name} has no use for {', '.join(useless)}; leave that out.")
    brought = [option for option in given if option in _TINY_BRINGS]
    if options.tiny and brought:
        raise ConfigError(
            f"--scale tiny has data and an encoder of its own; leave out {', '.join(brought)}."
        )


def _layout_lines_named(options: ReproduceOptions) -> AbstractContextManager[None]:
    """Have mistakes in a layout of the user's own named by line."""
    if options.data is None or options.layout is None:
        return nullcontext()
    from tawt.reproduce.layout import SECTION, layouts

    if options.layout in layouts():
        return nullcontext()
    return lines_of(Path(options.layout), tasks=SECTION)


def _asked_before(
    experiment: Experiment, options: ReproduceOptions, folder: Path
) -> Request | None:
    """What an earlier call asked for, where this one only names the experiment and the folder."""
    if (
        options.tiny
        or options.data is not None
        or options.encoder is not None
        or experiment.needs == "nothing"
    ):
        return None
    return load_request(folder / experiment.name)


def _check_only_named(
    experiment: Experiment, options: ReproduceOptions, *, part: str | None, keep_models: bool
) -> None:
    """Refuse what a table that is made again from its records cannot heed."""
    flags = {
        "--layout": options.layout is not None,
        "--vectors": options.vectors is not None,
        "--seeds": options.seeds is not None,
        "--cap": options.cap,
        "--part": part is not None,
        "--keep-models": keep_models,
        "other settings of training": options.changes_settings,
    }
    given = [option for option, is_given in flags.items() if is_given]
    if given:
        missing = [option for option in experiment.needs.split(", ") if option not in given]
        needed = " and ".join(missing)
        raise ConfigError(
            f"Without {needed}, {experiment.name} is made again from its records, as it was asked "
            f"for. Give {needed} too, or leave out {', '.join(given)}."
        )


def _tell(result: Result, folder: Path, *, quiet: bool, as_json_lines: bool) -> None:
    if as_json_lines:
        typer.echo(json.dumps(as_json(result), indent=2))
    elif not quiet:
        _show(result, folder)


def requested(options: ReproduceOptions, folder: Path) -> Request:
    """What is asked for, checked against the data."""
    Settings(**options.training)  # refuses what cannot be, before anything is written
    setup = _setup(options, folder)
    if setup is not None:
        setup = replace(
            setup,
            training={**setup.training, **options.training},
            epochs=options.epochs or setup.epochs,
        )
    return Request(
        seeds=tuple(range(options.seeds or 1)),
        setup=setup,
        vectors=_placed(options.vectors),
        tiny=options.tiny,
    )


def _setup(options: ReproduceOptions, folder: Path) -> Setup | None:
    """The tasks of the paper, where they are asked for; they are text."""
    if options.tiny:
        from tawt.reproduce.generated import tiny_setup

        return tiny_setup(folder / "tiny")
    if options.data is None:
        return None
    from tawt.reproduce.layout import load_layout, placed, training_sizes

    layout = load_layout(options.layout or "open")
    tasks = placed(layout, options.data)
    return Setup(
        tasks=tasks,
        about=layout.about,
        available=training_sizes(tasks),
        encoder=_placed(options.encoder) or "",
        cap=options.cap,
    )


def _placed(name: str | None) -> str | None:
    """The full path of a file or folder; other names as they are."""
    return str(Path(name).resolve()) if name and Path(name).exists() else name


def _run_experiment(
    experiment: Experiment,
    request: Request,
    store: Store,
    *,
    jobs: int | None,
    device: str,
    part: tuple[int, int],
    keep_models: bool,
    quiet: bool,
) -> Result | None:
    """The result, or nothing if runs of other parts are missing."""
    with stop_on_signals() as should_stop, runs_progress(quiet=quiet) as tell:
        sweep = replace(
            usual_sweep(jobs, device), part=part, should_stop=should_stop, on_progress=tell
        )
        if not make(experiment, request, store, sweep, device=device, keep_models=keep_models):
            return None
    return experiment.result(request, store)


def _part(given: str | None) -> tuple[int, int]:
    if given is None:
        return 1, 1
    number, slash, of = given.partition("/")
    if not slash or not number.isdecimal() or not of.isdecimal():
        raise ConfigError(f"--part is K/N, such as 1/4; got {given!r}.")
    return Sweep(part=(int(number), int(of))).part


def _show(result: Result, folder: Path) -> None:
    table = Table(
        title=f"{result.experiment}: {result.title}",
        title_justify="left",
        header_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    lines = [result.headings, *result.rows]
    if len(result.headings) > _WIDEST:
        lines = [list(column) for column in zip(*lines, strict=True)]
    headings, *rows = lines
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", overflow="fold")
    for name, *cells in rows:
        table.add_row(Text(name), *(Text(_narrow(cell)) for cell in cells))
    console.out.print(table)
    console.say(result.caption)
    for sentence in result.said:
        console.say(sentence)
    console.say(f"Everything is in {folder}; open {folder / 'report.html'} in a browser.")


def _narrow(cell: str) -> str:
    r"""A cell that leaves room for the others: the paper's number under ours.

    Example:
        >>> _narrow("57.3 ± 1.2 *** (57.34 ***)")
        '57.3±1.2***\n(57.34***)'
    """
    return cell.replace(" (", "\n(").replace(" ± ", "±").replace(" ***", "***")
