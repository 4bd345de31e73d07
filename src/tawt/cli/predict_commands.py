"""`tawt predict`: its options and its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tawt.cli.commands import Device, Quiet


def predict(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    file: Annotated[str, typer.Argument(help="What to read; - is standard input.")],
    form: Annotated[
        str | None, typer.Option("--format", help="How FILE is written; guessed by default.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--out", help="A file for the answers; standard output by default."),
    ] = None,
    output_form: Annotated[
        Literal["tsv", "jsonl"] | None,
        typer.Option("--output", help="How answers are written.", show_default="tsv"),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Say how probable each answer is.")
    ] = False,
    target: Annotated[
        str | None, typer.Option("--target", help="Which target, where the run has several.")
    ] = None,
    device: Device = "auto",
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, max=65_536, help="Rows at a time.")
    ] = 32,
    quiet: Quiet = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="A line of JSON for each answer: --output jsonl.")
    ] = False,
) -> None:
    """Tag or label what is in FILE with a finished run.

    Answers come in the order of the input. For a run on arrays, FILE is an .npz with the array
    inputs, or an .npy; TSV is a line each with the example's number and its label, or number.

    For a run on text, answers come while it is read. FILE is UTF-8, one of: text, a raw
    sentence or text a line (a pair of texts: with a tab between them); tokens, words with blanks
    between them; columns, a word a line in the first column and blank lines between sentences;
    conllu; jsonl, objects with tokens or text (and second). A blank line of text or tokens gets a
    blank answer, so that lines keep their places.

    TSV is a line per word, word and tag, and a blank line after each sentence; for texts, a line
    each with text and label, or number. Sentences longer than the model's input are read in
    windows that overlap, and every word is answered.

    For a run on corpora, FILE is text, and every line is asked for by itself; TSV is a line each
    with its number, bits a byte, nats and tokens.
    """
    from tawt.cli import predicting

    predicting.predict_file(
        run,
        file,
        target=target,
        form=form,
        output=output,
        writing=predicting.Writing(
            form=predicting.chosen_form(output_form, as_json=as_json), probabilities=probabilities
        ),
        device=device,
        batch_size=batch_size,
        quiet=quiet,
    )
