"""Two sets of defaults: what the paper did, and what we found to be safer.

How weights move is `UpdateRule`'s to say; here are the other fields that go with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tawt.weighting import UpdateRule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.weighting import TargetShare


@dataclass(frozen=True)
class Preset:
    """Values for the fields of a configuration that are not given in it."""

    rule: UpdateRule
    target_share: TargetShare
    training: Mapping[str, Any]

    @property
    def weighting(self) -> dict[str, Any]:
        """Those of the section `weighting`."""
        return {
            "target_share": self.target_share,
            "own_alignment": self.rule.own_alignment,
            "step": self.rule.step,
            "anchor": self.rule.anchor,
            "ratio_bound": self.rule.ratio_bound,
        }


PRESETS: Mapping[str, Preset] = {
    "paper": Preset(
        rule=UpdateRule.paper(),
        target_share="learned",
        training={"sampling": "size", "guard": False, "gradient_examples": 64},
    ),
    "robust": Preset(
        rule=UpdateRule.robust(),
        target_share=0.3,
        training={
            "sampling": "weight",
            "update_every": 10,
            "update_growth": 0.25,
            "gradient_examples": 128,
            "target_from": "halves in turn",
            "head_epochs": 5,
        },
    ),
}

FINER = Preset(
    rule=UpdateRule.bounded(),
    target_share=0.3,
    training={
        "sampling": "weight",
        "gradient_examples": 128,
        "head_epochs": 5,
    },
)
"""In place of `robust`, where weights are on groups or examples."""
