"""Two sets of defaults: what the paper did, and what we found to be safer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Preset:
    """Values for the fields of a configuration that are not given in it."""

    weighting: Mapping[str, Any]
    training: Mapping[str, Any]


PRESETS: Mapping[str, Preset] = {
    "paper": Preset(
        weighting={"target_share": "learned", "own_alignment": "itself", "ratio_bound": None},
        training={"sampling": "size", "gradient_examples": 64},
    ),
    "robust": Preset(
        weighting={"target_share": 0.3, "own_alignment": "held-out", "ratio_bound": 10.0},
        training={"sampling": "weight", "gradient_examples": 128, "head_epochs": 5},
    ),
}
