"""Fine-tuning that begins with the same head, however sources were weighed before.

Methods fit the target's head more or less often while they measure. That is worth up to three
points to fine-tuning, and has nothing to do with weights.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tawt.training.paradigms import Phase

if TYPE_CHECKING:
    from torch import nn

    from tawt.training import PreTraining
    from tawt.training.progress import TrainingProgress

_HEAD = "first head"


@dataclass(frozen=True)
class HeadFirst:
    """Pre-training in which the target's head is fitted by itself before fine-tuning."""

    pre_training: PreTraining
    passes: int
    """Over the target, all but its head being held."""

    def phases(self) -> tuple[Phase, ...]:
        """Sources, the head, all of the model."""
        sources, tuning = self.pre_training.phases()
        return sources, Phase(_HEAD, "target", self.passes, moves="head"), tuning


class Anew:
    """Puts a head back to where it began, once it comes to be fitted by itself.

    Args:
        head: Of a model that is not trained yet.
    """

    def __init__(self, head: nn.Module) -> None:
        self._head = head
        self._initial: dict[str, Any] | None = deepcopy(head.state_dict())

    def __call__(self, now: TrainingProgress) -> None:
        """After every step."""
        if now.phase == _HEAD and self._initial is not None:
            self._head.load_state_dict(self._initial)
            self._initial = None
