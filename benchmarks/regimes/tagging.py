"""Tagging: few sentences of a target, three sources that are related and five that are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.regimes.problems import Problem
from benchmarks.regimes.texts import (
    FRENCH,
    GUM_TAGS,
    LENGTH,
    SPLITS,
    THROWN,
    path_of,
    sentences,
    shuffled,
)
from tawt.config import parsed
from tawt.runs import building

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SOURCE_SENTENCES = 2400
"""Of all sources together, in proportion to their files: a pass takes 300 steps of 8."""
_BLOCK = 8  # of which a source has a whole number, so that no step is short
_DEV, _TEST, _MOST_PIECES = 130, 280, 48  # the smallest corpus has no more


@dataclass(frozen=True)
class _Sources:
    """What may help a target, the nearest first; and whose tags are shuffled beside it."""

    related: tuple[str, str, str]
    spoilt: tuple[str, str, str]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.related, *map(shuffled, self.spoilt), LENGTH, THROWN)


def _beside(first: str, second: str, third: str) -> _Sources:
    return _Sources((first, second, third), (first, FRENCH, GUM_TAGS))


_CHUNK = "conll2000 chunk"
TARGETS = {
    "ewt ner": _beside("gum ner", "ewt pos", _CHUNK),
    _CHUNK: _beside("gum chunk", "ewt pos", "ewt predicate"),
    "gum ner": _beside("ewt ner", GUM_TAGS, "gum entity"),
    "gum chunk": _beside(_CHUNK, GUM_TAGS, "ewt predicate"),
    "ewt supersense": _beside("ewt pos", "ewt predicate", _CHUNK),
    "gum entity": _beside("gum chunk", "gum ner", _CHUNK),
    "es_gsd upos": _Sources((FRENCH, "ewt pos", _CHUNK), (FRENCH, GUM_TAGS, _CHUNK)),
}
"""Corpus and layer, as the files are called."""


def tagging(target: str, *, examples: int, seed: int, texts: Path, encoder: str) -> Problem:
    """A target of some sentences, and its eight sources.

    Args:
        target: One of `TARGETS`.
        examples: Sentences of the target.
        seed: Which sentences are drawn.
        texts: Where they are written.
        encoder: A folder.
    """
    about = TARGETS[target]
    own = {split: str(path_of(target, split, texts)) for split in SPLITS}
    limits = {"limit": examples, "limit_dev": _DEV, "limit_test": _TEST}
    config = parsed(
        {
            "data": {
                "kind": "text",
                "tasks": {**_files(about.names, texts), target: {**own, **limits}},
            },
            "target": target,
            "sources": list(about.names),
            "seed": seed,
            "model": {"encoder": encoder, "max_length": _MOST_PIECES},
        }
    )
    *sources, goal = building.tasks(config)
    return Problem(
        target=goal,
        sources=sources,
        worth={name: float(name in about.related) for name in about.names},
        picked=about.related,
        model=lambda tasks: building.model(config, tasks),
    )


def _files(names: Sequence[str], texts: Path) -> dict[str, dict[str, Any]]:
    paths = {name: path_of(name, "train", texts) for name in names}
    counts = {name: len(sentences(path)) for name, path in paths.items()}
    blocks = SOURCE_SENTENCES / _BLOCK / sum(counts.values())
    return {
        name: {"train": str(path), "limit": _BLOCK * max(1, round(blocks * counts[name]))}
        for name, path in paths.items()
    }
