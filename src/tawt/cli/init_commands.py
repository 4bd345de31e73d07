"""`tawt init`: its options and its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tawt.cli.commands import Json


def init(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES", help="Data files, and folders of them.")
    ],
    target: Annotated[
        str | None,
        typer.Option("--target", help="The task that counts, by its name or its file."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The configuration; TARGET.yaml by default.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Write over a configuration that is there.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show nothing; only errors.")] = False,
    as_json: Json = False,
) -> None:
    """Make a configuration by looking at data files.

    It shows what each file was taken for, with the first examples, and writes a YAML file in which
    every value has a comment. What is read: text with labels (words in columns, CoNLL-U, JSON
    lines, CSV, TSV), plain text, and NumPy arrays (.npz).

    Every file is a task, which has the file's name. Files whose names differ only in train, dev (or
    valid) and test are the splits of one task; if they are called train, dev and test alone, the
    task has their folder's name. The target is the task that counts; all others are sources,
    which may help it.
    """
    from tawt.cli import initialising

    initialising.make_config(
        files, target=target, out=out, overwrite=overwrite, quiet=quiet, as_json=as_json
    )
