"""The demonstration of mixing corpora: the story, the answer, and what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.cli import actions, console
from tawt.compare.mixing_demo import MIXING_CONFIG, MIXING_ROWS, STEPS, write_mixing_demo
from tawt.compare.words import in_words
from tawt.runs import Options
from tawt.runs.folder import PAGE

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.compare import Comparison

_STORY = (
    "A small language model is to predict text about networks, and 200 lines of such text are "
    "there: docstrings of asyncio, email, http, urllib and the like. Other text might help, all of "
    "it from Python's own library or generated: docstrings of other modules, comments, code, the "
    "language reference, names of characters, tables of codecs, generated news, its words "
    "shuffled, and random letters. Nobody tells the method which is which."
)


def show_mixing_demo(
    folder: Path,
    *,
    seeds: int,
    jobs: int | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
    steps: int = STEPS,
) -> None:
    """Tell the story, write the corpora, make the runs, say where the target was found.

    Args:
        folder: Where all of it goes.
        seeds: Runs of each row.
        jobs: Runs at a time.
        overwrite: Whether it all starts again.
        quiet: Whether nothing is shown.
        as_json: Whether the table is printed as JSON instead.
        steps: Of each run.
    """
    if not (quiet or as_json):
        console.say(_STORY)
    config = write_mixing_demo(folder, overwrite=overwrite, steps=steps)
    actions.compare_rows(
        config,
        folder,
        rows=MIXING_ROWS,
        seeds=seeds,
        jobs=jobs,
        options=Options(overwrite=overwrite),
        quiet=quiet,
        as_json=as_json,
        show=_show,
    )


def _show(comparison: Comparison, folder: Path) -> None:
    for sentence in in_words(comparison):
        console.say(sentence)
    console.out.print(console.comparison_table(comparison))
    console.say(f"The text is in {folder / 'data'}; open {folder / PAGE} in a browser.")
    console.say(
        f"For your own text, name your files in a copy of {folder / MIXING_CONFIG}, and type"
    )
    console.say("    tawt mix my-corpora.yaml")
