"""Runs of the paper's experiment with weights on samples."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tawt import files
from tawt.config import parsed
from tawt.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tawt.config import RunConfig
    from tawt.reproduce.name_words import NameWords

Paradigm = Literal["single-task", "pre-training", "joint"]
Unit = Literal["task", "group", "example"]
SOURCE, TARGET = "pos", "type"
_EPOCHS_A_ROUND = 5
_INVERSE_HESSIAN = 5.0


@dataclass(frozen=True)
class SampleSettings:
    """The paper's, or tiny ones."""

    source: int = 1000
    target: int = 100
    hidden: int = 4096
    epochs: int = 200
    batch_size: int = 128

    @property
    def steps(self) -> dict[str, int]:
        """Of each paradigm, an epoch."""
        source, target = (-(-size // self.batch_size) for size in (self.source, self.target))
        return {"joint": source + target, "pre-training": source, "single-task": target}


@dataclass(frozen=True)
class SampleRun:
    """One way of training."""

    folder: Path
    """Where the examples of each seed are."""
    settings: SampleSettings
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    """Of source and target."""
    paradigm: Paradigm
    unit: Unit | None = None
    """What has a weight that is learned; nothing by default."""

    @property
    def name(self) -> str:
        """What the row is called.

        Example:
            >>> from pathlib import Path
            >>> SampleRun(Path(), SampleSettings(), ((), ()), "joint", "example").name
            'joint training, weights on examples'
        """
        if self.paradigm == "single-task":
            return self.paradigm
        called = "pre-training" if self.paradigm == "pre-training" else "joint training"
        return f"{called}, {f'weights on {self.unit}s' if self.unit else 'plain'}"

    def config(self, seed: int) -> RunConfig:
        """As it is run with a seed."""
        settings = self.settings
        weighting: dict[str, Any] = {"preset": "paper", "kind": "fixed", "initial": "proportional"}
        if self.unit is not None:
            weighting |= {
                "kind": "target-aware",
                "unit": self.unit,
                "alignment": "curvature",
                "curvature": {"kind": "identity", "scale": _INVERSE_HESSIAN},
            }
        tasks: dict[str, Any] = {
            SOURCE: {"train": self.folder / f"{SOURCE}.{seed}.npz", "labels": self.labels[0]},
            TARGET: {
                "train": self.folder / f"{TARGET}.{seed}.npz",
                "test": self.folder / f"{TARGET}.test.npz",
                "labels": self.labels[1],
            },
        }
        return parsed(
            {
                "name": f"{self.paradigm}-{self.unit or 'plain'}-{seed}",
                "seed": seed,
                "data": {"kind": "arrays", "tasks": tasks},
                "target": TARGET,
                "model": {"kind": "mlp", "widths": [settings.hidden]},
                "paradigm": self.paradigm,
                "epochs": settings.epochs,
                "target_epochs": settings.epochs,
                "weighting": weighting,
                "training": {
                    "batch_size": settings.batch_size,
                    "learning_rate": 3e-4,
                    "decay": "none",
                    "clip_norm": None,
                    "select": "last",
                    "gradient_examples": settings.target,
                    "head_epochs": _EPOCHS_A_ROUND,
                    "update_every": _EPOCHS_A_ROUND * settings.steps[self.paradigm],
                },
            }
        )


def write_examples(
    folder: Path, words: dict[str, NameWords], settings: SampleSettings, seeds: tuple[int, ...]
) -> dict[str, Any]:
    """Write the examples of every seed, and the test part, which is the same for all.

    Source and target have different words, drawn from the training part.

    Args:
        folder: Where they go.
        words: Of train and test.
        settings: How many are drawn.
        seeds: Of the runs.

    Returns:
        What there is to know about them: labels of source and target, and counts.
    """
    train, test = words["train"], words["test"]
    wanted = settings.source + settings.target
    if len(train.tags) < wanted:
        raise ConfigError(
            f"figure-weighted-samples wants {wanted} words in names; the data has "
            f"{len(train.tags)}."
        )
    tags, types = np.union1d(train.tags, test.tags), np.union1d(train.types, test.types)
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(train.tags))
        source, target = order[: settings.source], order[settings.source : wanted]
        tagged = np.searchsorted(tags, train.tags[source])
        typed = np.searchsorted(types, train.types[target])
        _write(folder / f"{SOURCE}.{seed}.npz", train.features[source], tagged)
        _write(folder / f"{TARGET}.{seed}.npz", train.features[target], typed)
    _write(folder / f"{TARGET}.test.npz", test.features, np.searchsorted(types, test.types))
    _, counts = np.unique(test.types, return_counts=True)
    return {
        "labels": [tags.tolist(), types.tolist()],
        "words": {"train": len(train.tags), "test": len(test.tags)},
        "majority": float(counts.max() / counts.sum()),
    }


def _write(path: Path, inputs: NDArray[np.float32], labels: NDArray[np.int64]) -> None:
    content = io.BytesIO()
    np.savez(content, inputs=inputs, labels=labels)
    files.write(path, content.getvalue())
