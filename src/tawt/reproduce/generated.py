"""A generated corpus and a tiny encoder, for `--scale tiny`: all of an experiment, small."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt import files
from tawt.demos.grammar import generate
from tawt.demos.tiny import write_tiny_encoder
from tawt.reproduce.paper import TASKS
from tawt.reproduce.tagging import Setup
from tawt.text.reading import TaggedSentence, columns_text

if TYPE_CHECKING:
    from pathlib import Path

_SENTENCES = {"train": 160, "dev": 20, "test": 30}
_LAYERS = {"pos": "pos", "chunking": "chunks", "predicate": "predicates", "ner": "entities"}
_METRICS = {"pos": "accuracy", "chunking": "span_f1", "predicate": "token_f1", "ner": "span_f1"}


def tiny_setup(folder: Path) -> Setup:
    """What tiny runs share; the corpus and the encoder are written if they are not there.

    Args:
        folder: Where they go.
    """
    folder = folder.resolve()
    tasks = {
        task: {
            **{split: str(folder / f"{task}.{split}.tsv") for split in _SENTENCES},
            "metric": _METRICS[task],
        }
        for task in TASKS
    }
    if not (folder / "encoder" / "config.json").exists():
        _write(folder)
    return Setup(
        tasks=tasks,
        about="generated sentences",
        available=dict.fromkeys(TASKS, _SENTENCES["train"]),
        encoder=str(folder / "encoder"),
        training={"learning_rate": 2e-3},
        max_length=64,
        epochs=2,
        cap=True,
        tiny=True,
    )


def _write(folder: Path) -> None:
    for number, (split, count) in enumerate(_SENTENCES.items()):
        for offset, (task, layer) in enumerate(_LAYERS.items()):
            # Names and parts of speech on the same sentences, for weights on samples.
            seed = 10 * number + (0 if task in ("pos", "ner") else offset)
            tagged = [
                TaggedSentence(each.words, tuple(getattr(each, layer)), line)
                for line, each in enumerate(generate(count, seed=seed), start=1)
            ]
            files.write(folder / f"{task}.{split}.tsv", "".join(columns_text(tagged)))
    words = [each.words for each in generate(300, seed=99)]
    write_tiny_encoder(folder / "encoder", words, width=32, layers=1)
