"""What is trained: a small model, one eleven times its size, and a pretrained one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TINY, SMALL, LARGE, PRETRAINED, LORA = (
    "a tenth",
    "small",
    "eleven times the size",
    "pretrained",
    "pretrained, LoRA",
)

_TRAINING: dict[str, Any] = {
    "batch_size": 16,
    "warmup": 0.05,
    "weight_decay": 0.1,
    "sampling": "mixed",
    "most_passes": None,
    "select": "last",
}
"""A limit on passes is a setting of single rows: the one that is usual came after most of them."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A model and how it is trained.

    Args:
        model: The section `model`; `checkpoint` is given on the command line.
        learning_rate: Peak.
        training: Other settings.
    """

    model: dict[str, Any]
    learning_rate: float
    window: int = 256
    training: dict[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """The section `training`."""
        return {**_TRAINING, "learning_rate": self.learning_rate, **self.training}


SETUPS = {
    TINY: Setup(model={"layers": 2, "width": 72, "heads": 4}, learning_rate=3e-3),
    SMALL: Setup(model={"layers": 2, "width": 256, "heads": 4}, learning_rate=2e-3),
    LARGE: Setup(
        model={"layers": 6, "width": 512, "heads": 8},
        learning_rate=1e-3,
        training={"precision": "bf16"},
    ),
    PRETRAINED: Setup(model={}, learning_rate=1e-4, window=128, training={"precision": "bf16"}),
    LORA: Setup(
        model={"lora": {"rank": 16, "alpha": 32}},
        learning_rate=1e-3,
        window=128,
        training={"precision": "bf16"},
    ),
}
"""0.17, 1.7 and 19 million parameters on bytes; SmolLM2-135M, all of it and additions to it."""


def setup(name: str, *, checkpoint: str | None) -> Setup:
    """The setup of this name.

    Args:
        name: Of the setup.
        checkpoint: A folder with the pretrained model.
    """
    found = SETUPS[name]
    if name not in (PRETRAINED, LORA):
        return found
    if checkpoint is None:
        raise SystemExit("say where the pretrained model is, with --checkpoint FOLDER")
    return Setup(
        model={**found.model, "checkpoint": checkpoint},
        learning_rate=found.learning_rate,
        window=found.window,
        training=found.training,
    )
