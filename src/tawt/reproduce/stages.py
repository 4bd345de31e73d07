"""A simulation's stages: networks of a kind started, trained and watched, all from one seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.errors import Interrupted
from tawt.reproduce.networks_at_once import Layer, initial_layers, training
from tawt.streams import derived_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@dataclass(frozen=True, kw_only=True)
class Stages:
    """What all stages share.

    Every random choice is a function of the seed, the stage and the network's name, and is made on
    the CPU: it is the same on every device, and whatever else is trained.

    Example:
        >>> stages = Stages(seed=0, device=torch.device("cpu"), batch_size=2, learning_rate=0.01)
        >>> inputs, labels = stages.inputs("examples", (4, 3)), torch.tensor([[0, 1, 1, 0]] * 2)
        >>> layers = stages.fitted("students", ["a", "b"], (3, 8, 2), inputs, labels, epochs=5)
        >>> [tuple(weight.shape) for weight, _ in layers]
        [(2, 3, 8), (2, 8, 2)]
    """

    seed: int
    device: torch.device
    batch_size: int
    learning_rate: float
    """Adam's."""
    on_progress: Callable[[str, float], None] = lambda stage, epochs: None
    """Told the stage and its epochs done, whole and in part, after each step."""
    should_stop: Callable[[], bool] = lambda: False
    """Asked after each step."""

    def generator(self, *purpose: str) -> torch.Generator:
        """Random numbers for one purpose."""
        return torch.Generator().manual_seed(derived_seed(self.seed, *purpose))

    def inputs(self, purpose: str, shape: tuple[int, int]) -> Tensor:
        """Inputs uniform on [-0.5, 0.5]; shape `(examples, in)`."""
        return (torch.rand(shape, generator=self.generator(purpose)) - 0.5).to(self.device)

    def started(self, stage: str, names: Sequence[str], widths: Sequence[int]) -> list[Layer]:
        """Networks with their initial values."""
        generators = [self.generator(stage, name, "initial") for name in names]
        return initial_layers(widths, generators, device=self.device)

    def fitted(
        self,
        stage: str,
        names: Sequence[str],
        widths: Sequence[int],
        inputs: Tensor,
        labels: Tensor,
        *,
        epochs: int,
    ) -> list[Layer]:
        """Networks trained from the start for that many epochs; see `training`."""
        layers = self.started(stage, names, widths)
        for _ in self.epochs(stage, names, layers, inputs, labels, bound=epochs):
            pass
        return layers

    def epochs(
        self,
        stage: str,
        names: Sequence[str],
        layers: Sequence[Layer],
        inputs: Tensor,
        labels: Tensor,
        *,
        bound: int,
    ) -> Iterator[int]:
        """Train; yields the epochs done after each of them.

        Raises:
            Interrupted: It was asked to stop.
        """
        generators = [self.generator(stage, name, "order") for name in names]
        count = labels.shape[1]
        orders = (
            torch.stack([torch.randperm(count, generator=one) for one in generators])
            for _ in range(bound)
        )

        def stepped(epochs: float) -> None:
            self.on_progress(stage, epochs)
            if self.should_stop():
                raise Interrupted("The simulation was stopped as asked.")

        return training(
            layers,
            inputs,
            labels,
            orders=orders,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            on_step=stepped,
        )
