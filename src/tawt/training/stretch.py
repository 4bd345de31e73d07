"""A stretch of steps with one objective and one optimiser: a phase, or a fit of heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor, nn

from tawt.training.batches import Loader
from tawt.training.optimisers import optimiser_for
from tawt.training.parts import Parts
from tawt.training.steps import weighed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from accelerate import Accelerator

    from tawt.tasks import Batch, MultiTaskModel
    from tawt.training.material import Material
    from tawt.training.paradigms import Phase
    from tawt.training.rounds import Round
    from tawt.training.schedule import Schedule
    from tawt.training.settings import Settings
    from tawt.training.steps import Step
    from tawt.weighting import Weighting

_PLANNED = 4096  # steps at once: enough for loaders with workers, and little memory


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

    def fetched(
        self, part: Round, epoch: int, *, shares: Mapping[str, float], taken: Mapping[str, int]
    ) -> Iterator[tuple[Step, list[Batch]]]:
        """The batches of a round, which may have more steps than are planned at once.

        Args:
            part: The round.
            epoch: That it is a part of.
            shares: The weights of the tasks, which stay for the round.
            taken: How many examples of each the steps so far have had, as it is at every moment.
        """
        for first in range(part.first, part.last, _PLANNED):
            last = min(first + _PLANNED, part.last)
            steps = self.schedule.steps(epoch, first, last, shares=shares, taken=taken)
            yield from self.loader.fetch(weighed(steps, self.weighting.weights))

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

    def add_gradients(
        self, loss: Tensor, see: Callable[[Sequence[Tensor | None]], None] | None = None
    ) -> None:
        """Add the loss's gradients to the parameters' own, as `backward` does, past all hooks.

        A wrapper that adds up the gradients of several processes hooks itself onto parameters, and
        would take heads that are fitted beside it for used in its next step.

        Args:
            loss: Of a batch.
            see: Is shown its gradients, before they are added.
        """
        found = torch.autograd.grad(loss, self.parameters, allow_unused=True)
        if see is not None:
            see(found)
        for parameter, gradient in zip(self.parameters, found, strict=True):
            if gradient is not None:
                old = parameter.grad
                parameter.grad = gradient if old is None else old.add_(gradient)

    def average_gradients(self, accelerator: Accelerator) -> None:
        """Over processes, where no wrapper has done it; all in one message."""
        if accelerator.num_processes == 1:
            return
        there = [parameter.grad is not None for parameter in self.parameters]
        counts = torch.tensor(there, dtype=torch.int32, device=accelerator.device)
        anywhere = accelerator.reduce(counts, reduction="sum")
        used = [p for p, has in zip(self.parameters, anywhere.tolist(), strict=True) if has]
        own = [torch.zeros_like(p) if p.grad is None else p.grad for p in used]
        flat = accelerator.reduce(torch.cat([entry.flatten() for entry in own]), reduction="mean")
        for parameter, entry in zip(used, flat.split([p.numel() for p in used]), strict=True):
            parameter.grad = entry.view_as(parameter)

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
    found = {p: None for module in modules for p in module.parameters() if p.requires_grad}
    parameters: list[Tensor] = list(found)  # each once: targets may share a head
    rate = settings.head_learning_rate if heads_only else settings.learning_rate
    return Stretch(
        name=phase.name,
        weighting=material.weighting(phase),
        schedule=schedule,
        loader=Loader(
            material.examples(phase, schedule.sizes),
            parts=Parts.on(accelerator.device, batch_size=settings.batch_size, model=model),
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


def on_frozen(
    model: MultiTaskModel,
    autocast: Callable[[], AbstractContextManager[None]],
    inputs: Any,
    task: str,
) -> Tensor:
    """The head's outputs on a representation that is not trained."""
    model.representation.eval()
    with autocast():
        with torch.no_grad():
            vectors = model.representation(inputs)
        outputs: Tensor = model.heads[task](vectors)
    return outputs
