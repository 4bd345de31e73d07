"""A stretch of steps with one objective and one optimiser: a phase, or a fit of heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from tawt.training.batches import Loader, Schedule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from accelerate import Accelerator

    from tawt.tasks import MultiTaskModel
    from tawt.training.material import Material
    from tawt.training.paradigms import Phase
    from tawt.training.settings import Settings
    from tawt.weighting import Weighting


@dataclass
class Stretch:
    """What the loop needs to take steps."""

    name: str
    """Of the phase."""
    weighting: Weighting
    schedule: Schedule
    loader: Loader
    optimiser: torch.optim.Optimizer
    parameters: list[Tensor]
    moves: Literal["everything", "head"]
    peak: float
    """Peak learning rate."""
    total: int
    """Steps in all, for the decay."""
    loss_sum: Tensor
    """Of the epoch so far, on the device."""
    spoilt: Tensor
    """Whether a batch added up since the last step was not finite, on the device."""
    scale_sum: Tensor
    """Of the losses whose gradients have been added up since the last step, on the device."""

    def clip(self, max_norm: float | None) -> Tensor:
        """Shorten the gradients to `max_norm`; returns whether any entry was not finite.

        A step's loss is scaled by its task's weight. The bound is scaled with it: what is
        clipped is the batch's own gradient, or clipping would undo the weights.
        The answer stays on the device: a step must not wait for it.
        """
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        norm = nn.utils.get_total_norm(gradients)
        if max_norm is not None and gradients:
            # As torch's clip_grad_norm_, whose bound would have to be a number.
            shrink = (max_norm * self.scale_sum / (norm + 1e-6)).clamp(max=1.0)
            torch._foreach_mul_(gradients, shrink)
        self.scale_sum.zero_()
        return ~torch.isfinite(norm)

    def add_loss(self, loss: Tensor, bad: Tensor) -> None:
        """Count a step's loss into the epoch's, unless it is not finite."""
        self.loss_sum += torch.where(bad, 0.0, loss)

    def set_learning_rate(self, value: Tensor) -> None:
        """For the next step."""
        for group in self.optimiser.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].copy_(value)
            else:  # an optimiser that takes numbers only
                group["lr"] = float(value)


def stretch_for(
    phase: Phase,
    material: Material,
    model: MultiTaskModel,
    settings: Settings,
    accelerator: Accelerator,
) -> Stretch:
    """What a phase needs, with a new optimiser."""
    schedule = material.schedule(phase)
    heads_only = phase.moves == "head"
    modules = [model.heads[name] for name in material.targets] if heads_only else [model]
    parameters: list[Tensor] = [
        p for module in modules for p in module.parameters() if p.requires_grad
    ]
    rate = settings.head_learning_rate if heads_only else settings.learning_rate
    return Stretch(
        name=phase.name,
        weighting=material.weighting(phase),
        schedule=schedule,
        loader=Loader(
            material.examples(phase, schedule.sizes),
            workers=settings.workers,
            pin_memory=accelerator.device.type == "cuda",
            # Heads are fitted outside the wrapper that adds up gradients, by all alike.
            process=0 if heads_only else accelerator.process_index,
            processes=1 if heads_only else accelerator.num_processes,
        ),
        optimiser=optimiser_for(parameters, weight_decay=settings.weight_decay),
        parameters=parameters,
        moves=phase.moves,
        peak=phase.learning_rate or rate,
        total=phase.epochs * schedule.length,
        loss_sum=torch.zeros((), device=accelerator.device),
        spoilt=torch.zeros((), dtype=torch.bool, device=accelerator.device),
        scale_sum=torch.zeros((), device=accelerator.device),
    )


def optimiser_for(parameters: Iterable[Tensor], *, weight_decay: float) -> torch.optim.AdamW:
    """AdamW whose fused step can be told to do nothing (see `skip_if`), and can be replayed."""
    given = list(parameters)
    device = given[0].device if given else torch.device("cpu")
    return torch.optim.AdamW(
        given,
        lr=torch.zeros((), device=device),
        weight_decay=weight_decay,
        fused=True,
        capturable=device.type == "cuda",
    )


def skip_if(optimiser: torch.optim.Optimizer, bad: Tensor) -> None:
    """Make the next step a no-op where `bad` is true, without asking the device.

    This is the mechanism by which torch's own gradient scaler skips steps in mixed precision.
    """
    optimiser.grad_scale = None  # type: ignore[attr-defined]
    optimiser.found_inf = bad.to(torch.float32)  # type: ignore[attr-defined]


def optimiser_state(optimiser: torch.optim.Optimizer) -> dict[str, object]:
    """The optimiser's tensors, by position; its settings are made anew from the config."""
    return {"state": optimiser.state_dict()["state"]}


def load_optimiser_state(
    optimiser: torch.optim.Optimizer, saved: Mapping[str, Mapping[str, object]]
) -> None:
    """Inverse of `optimiser_state`."""
    state = {int(position): entry for position, entry in saved["state"].items()}
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": state, "param_groups": groups})


def rounds(length: int, every: int | None, *, start: int, before: int) -> Iterable[tuple[int, int]]:
    """The stretches of an epoch between weight updates, from step `start` on.

    Args:
        length: Steps in the epoch.
        every: Steps between updates; an epoch by default.
        start: First step still to take.
        before: Steps of earlier epochs, since updates are counted across epochs.

    Yields:
        First and last (exclusive) step of each.

    Example:
        >>> list(rounds(10, 4, start=0, before=10)), list(rounds(10, None, start=3, before=0))
        ([(0, 2), (2, 6), (6, 10)], [(3, 10)])
    """
    while start < length:
        size = length if every is None else every
        position = start if every is None else before + start
        end = min(length, start + size - position % size)
        yield start, end
        start = end


def ends_round(end: int, length: int, every: int | None, *, before: int) -> bool:
    """Whether a weight update is due after `end` steps of an epoch.

    Example:
        >>> ends_round(10, 10, None, before=0), ends_round(10, 10, 4, before=0)
        (True, False)
    """
    return end == length if every is None else (before + end) % every == 0
