"""The built-in demonstration: a study of scanned digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.studies.config import parsed
from tawt.studies.rows import ROWS

if TYPE_CHECKING:
    from tawt.studies.config import RunConfig

_CONFIG: dict[str, Any] = {
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
DEMO_ROWS = tuple(name for name in ROWS if name != "joint then fine-tuning")
"""Those that its story needs: it should be told in about a minute."""


def demo_config() -> RunConfig:
    """What all runs of the demonstration share."""
    return parsed(_CONFIG)
