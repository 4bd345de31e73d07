"""The passes of a weight update, replayed on a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from tawt.gradients import Gradient, dot, gradient_of, squared_norm, trainable, width
from tawt.training.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
        # Made when the first update comes, and not while it is recorded.
        self.gradient: list[Tensor] = []
        self.numbers = torch.zeros(3, dtype=torch.float64, device=parameters[0].device)
        """Loss, inner product and squared norm."""

    def ready(self) -> None:
        """Have a place for a gradient, that of the first update and all later ones."""
        if not self.gradient:
            self.gradient = [torch.zeros_like(p, dtype=width(p)).detach() for p in self.parameters]


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
        kept.ready()

        def leave_gradient(loss: Tensor, found: Gradient) -> None:
            kept.reached[task] = [entry is not None for entry in found]
            pairs = [
                (place, entry)
                for place, entry in zip(kept.gradient, found, strict=True)
                if entry is not None
            ]
            if pairs:
                torch._foreach_copy_([place for place, _ in pairs], [entry for _, entry in pairs])
            kept.numbers[0] = loss

        self._replayed("gradient", task, leave_gradient)
        reached = zip(kept.gradient, kept.reached[task], strict=True)
        return kept.numbers[0].clone(), [place if is_ else None for place, is_ in reached]

    def along(self, task: str, direction: Gradient) -> tuple[Tensor, Tensor, Tensor]:
        """Loss, inner product with the direction, squared norm."""
        kept = self.recorder
        kept.ready()
        for place, entry in zip(kept.gradient, direction, strict=True):
            if entry is None:
                place.zero_()
            elif entry is not place:
                place.copy_(entry)

        def leave_numbers(loss: Tensor, found: Gradient) -> None:
            found_numbers = [loss.double(), dot(list(kept.gradient), found), squared_norm(found)]
            # Of a task that reaches no parameter, zeros that are on no device in particular.
            kept.numbers.copy_(torch.stack([n.to(kept.numbers.device) for n in found_numbers]))

        self._replayed("along", task, leave_numbers)
        loss, inner, squared = kept.numbers.clone()
        return loss, inner, squared

    def _replayed(self, what: str, task: str, leave: Callable[[Tensor, Gradient], None]) -> None:
        batch, size = self.fresh.batch(task)

        def compute(drawn: tuple[Any, Any]) -> None:
            loss = self.fresh.loss(task, drawn, size=size)
            found = gradient_of(loss, self.recorder.parameters)
            with torch.no_grad():
                leave(loss.detach(), found)

        inputs = batch.inputs, batch.labels
        self.recorder.replay((what, task, size), compute, inputs, warm=True)


def recording(
    model: MultiTaskModel, settings: Settings, accelerator: Accelerator
) -> tuple[Replay, Recorder | None]:
    """What steps go through, and on a GPU what updates do: compiled, recorded, or as they are.

    Gradients that are added up over several batches, or over several processes, are no work that
    can be replayed. Steps that are watched could be, but that has not been tried on a GPU yet.
    """
    if settings.compile:
        model.representation.compile()
    alone = accelerator.num_processes == 1 and settings.accumulation == 1
    wanted = settings.cuda_graphs and not settings.compile
    records = wanted and alone and settings.measure == "fresh batches"
    replay = Replay(accelerator.device, enabled=records, clear=model.zero_grad)
    if not (accelerator.device.type == "cuda" and records):
        return replay, None
    return replay, Recorder(replay, trainable(model.representation))
