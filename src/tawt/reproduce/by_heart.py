"""Networks that learn random labels by heart, the labels of some more alike than of others."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.errors import TrainingError
from tawt.reproduce.networks_at_once import Layer, measured
from tawt.reproduce.shares import TEACHERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.reproduce.stages import Stages


def flipped(
    labels: Tensor, rates: Sequence[float], *, classes: int, generator: torch.Generator
) -> Tensor:
    """The labels at each flip rate, shape `(rates, examples)`.

    A share of the labels, rounded to whole examples, is replaced by random ones, which may be what
    they were. What is replaced at one rate is replaced by the same at any higher one.

    Args:
        labels: Shape `(examples,)`.
        rates: Shares from 0 to 1.
        classes: Labels are drawn below this.
        generator: Of the draws.

    Example:
        >>> labels, draws = torch.full((1000,), -1), torch.Generator()
        >>> many = flipped(labels, [0.0, 0.5, 1.0], classes=10, generator=draws)
        >>> (many != -1).sum(dim=1)
        tensor([   0,  500, 1000])
    """
    count = len(labels)
    rank = torch.randperm(count, generator=generator)
    others = torch.randint(classes, (count,), generator=generator)
    return torch.stack([labels.where(rank >= round(rate * count), others) for rate in rates])


def learned_by_heart(
    stages: Stages,
    names: Sequence[str],
    widths: Sequence[int],
    inputs: Tensor,
    labels: Tensor,
    *,
    loss: float,
    bound: int,
) -> tuple[list[Layer], dict[str, dict[str, float]]]:
    """Networks as each was after the first epoch that left it with every example right.

    Args:
        stages: How to train.
        names: Of the networks.
        widths: Of the inputs, between the layers, and of the outputs.
        inputs: The same for all, shape `(examples, in)`.
        labels: Of each network, shape `(networks, examples)`.
        loss: The highest mean loss a network may have then.
        bound: Epochs by which all must be there.

    Returns:
        The networks; and by name the "accuracy", "loss" and "epochs" of each.

    Raises:
        TrainingError: Some were not there by then.

    Example:
        >>> from tawt.reproduce.stages import Stages
        >>> stages = Stages(seed=0, device=torch.device("cpu"), batch_size=2, learning_rate=0.1)
        >>> inputs, labels = torch.eye(4), torch.tensor([[0, 1, 1, 0], [1, 1, 0, 0]])
        >>> _, reached = learned_by_heart(
        ...     stages, ["a", "b"], (4, 8, 2), inputs, labels, loss=0.1, bound=50
        ... )
        >>> reached["a"]["accuracy"], reached["b"]["loss"] <= 0.1
        (1.0, True)
    """
    layers = stages.started(TEACHERS, names, widths)
    kept = [(weight.clone(), bias.clone()) for weight, bias in layers]
    reached: dict[str, dict[str, float]] = {}
    for epoch in stages.epochs(TEACHERS, names, layers, inputs, labels, bound=bound):
        accuracies, losses = (values.tolist() for values in measured(layers, inputs, labels))
        for at, name in enumerate(names):
            if name not in reached and accuracies[at] == 1 and losses[at] <= loss:
                reached[name] = {"accuracy": 1.0, "loss": losses[at], "epochs": epoch}
                for mine, now in zip(chain(*kept), chain(*layers), strict=True):
                    mine[at] = now[at].detach()
        if len(reached) == len(names):
            return kept, {name: reached[name] for name in names}
    missing = ", ".join(name for name in names if name not in reached)
    raise TrainingError(
        f"A teacher must get all {len(inputs)} examples right, with a loss of at most {loss}, "
        f"within {bound} epochs; these did not: {missing}. Allow more epochs, or give it more "
        "hidden neurons."
    )
