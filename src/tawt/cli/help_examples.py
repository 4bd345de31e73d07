"""What one may type, at the end of the help of every command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

EXAMPLES = {
    "demo": ("tawt demo", "tawt demo tagging --seeds 1"),
    "init": (
        "tawt init ner.train.tsv ner.test.tsv pos.conllu chunk.txt --target ner",
        "tawt init data/ --target data/questions.jsonl --out questions.yaml",
    ),
    "best": (
        "tawt best names.yaml --budget 30m",
        "tawt best names.yaml --budget 12 --dry-run",
    ),
    "train": (
        "tawt train names.yaml",
        "tawt train names.yaml -o training.batch_size=16 --out runs/smaller",
    ),
    "compare": ("tawt compare names.yaml", "tawt compare names.yaml --all --seeds 3 --jobs 2"),
    "mix": ("tawt mix afrikaans.yaml --budget 30m --tokens 1B",),
    "report": ("tawt report runs/names", "tawt report runs/a runs/b --out both.html"),
    "predict": (
        "tawt predict runs/names new.txt",
        "tawt predict runs/names new.txt --json --probabilities --out answers.jsonl",
    ),
    "audit": ("tawt audit runs/names --most 20 --out doubtful.csv",),
    "distance": (
        "tawt distance names.yaml",
        "tawt distance names.yaml --no-training --weights mostly=pos:0.75,chunk:0.25",
    ),
    "reproduce": (
        "tawt reproduce --list",
        "tawt reproduce table-main --scale tiny",
    ),
    "inspect": ("tawt data inspect names.yaml", "tawt data inspect train.conllu --tag upos"),
}
"""By command; each line is a whole one, of files that need not be there."""


def add_examples(*apps: typer.Typer) -> None:
    """Give every command its examples, where its help ends.

    Args:
        apps: Whose commands are registered already.
    """
    for app in apps:
        for command in app.registered_commands:
            assert command.callback is not None
            lines = EXAMPLES.get(command.callback.__name__, ())
            if lines:
                heading = "Example:" if len(lines) == 1 else "Examples:"
                # The sign keeps the lines from being run together.
                command.epilog = "\n".join(["\b", heading, *(f"  {line}" for line in lines)])
