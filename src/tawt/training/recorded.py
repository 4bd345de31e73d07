"""The passes of a weight update, replayed on a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch

from tawt.gradients import Gradient, dot, gradient_of, squared_norm, trainable, width
from tawt.training.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accelerate import Accelerator
    from torch import Tensor

    from tawt.tasks import MultiTaskModel
    from tawt.training.fresh import FreshLosses
    from tawt.training.settings import Settings


class Recorder:
    """What recorded passes leave their results in: one gradient and three numbers.

    Args:
        replay: Records and replays.
        parameters: Of the representation.
    """

    def __init__(self, replay: Replay, parameters: Sequence[Tensor]) -> None:
        self.replay = replay
        self.parameters = parameters
        self.reached: dict[str, list[bool]] = {}
        """By task, which parameters its loss reaches."""

    @cached_property
    def gradient(self) -> list[Tensor]:
        """Of the first update and all later ones."""
        return [torch.zeros_like(p, dtype=width(p)).detach() for p in self.parameters]

    @cached_property
    def numbers(self) -> Tensor:
        """Loss, inner product and squared norm."""
        return torch.zeros(3, dtype=torch.float64, device=self.parameters[0].device)


@dataclass(frozen=True)
class RecordedPasses:
    """`Passes` of one weight update, on draws of its own.

    Args:
        fresh: Draws examples and computes losses.
        recorder: Outlives the update.
    """

    fresh: FreshLosses
    recorder: Recorder

    def __call__(self, task: str) -> Tensor:
        """The task's mean loss on its next draw, graph attached."""
        return self.fresh(task)

    def gradient(self, task: str) -> tuple[Tensor, Gradient]:
        """Loss and gradient, in the recorder's memory."""
        kept = self.recorder

        def leave_gradient(drawn: Any) -> None:
            loss = self.fresh.loss(task, drawn)
            found = gradient_of(loss, kept.parameters)
            kept.reached[task] = [entry is not None for entry in found]
            with torch.no_grad():
                for place, entry in zip(kept.gradient, found, strict=True):
                    if entry is not None:
                        place.copy_(entry)
                kept.numbers[0] = loss

        kept.replay(("gradient", task), leave_gradient, self.fresh.batch(task))
        reached = zip(kept.gradient, kept.reached[task], strict=True)
        return kept.numbers[0].clone(), [place if is_ else None for place, is_ in reached]

    def along(self, task: str, direction: Gradient) -> tuple[Tensor, Tensor, Tensor]:
        """Loss, inner product with the direction, squared norm."""
        kept = self.recorder
        for place, entry in zip(kept.gradient, direction, strict=True):
            if entry is None:
                place.zero_()
            elif entry is not place:
                place.copy_(entry)

        def leave_numbers(drawn: Any) -> None:
            loss = self.fresh.loss(task, drawn)
            found = gradient_of(loss, kept.parameters)
            with torch.no_grad():
                inner = dot(list(kept.gradient), found)
                kept.numbers.copy_(torch.stack([loss.double(), inner, squared_norm(found)]))

        kept.replay(("along", task), leave_numbers, self.fresh.batch(task))
        loss, inner, squared = kept.numbers.clone()
        return loss, inner, squared


def recording(
    model: MultiTaskModel, settings: Settings, accelerator: Accelerator
) -> tuple[Replay, Recorder | None]:
    """What steps go through, and on a GPU what updates do.

    Gradients that are added up over several batches, or over several processes, are no work that
    can be replayed.
    """
    alone = accelerator.num_processes == 1 and settings.accumulation == 1
    on_gpu = accelerator.device.type == "cuda"
    replay = Replay(accelerator.device, enabled=settings.cuda_graphs and alone)
    if not (on_gpu and alone and settings.cuda_graphs):
        return replay, None
    return replay, Recorder(replay, trainable(model.representation))
