"""How much of a simulation is done, by what its stages cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from tawt.reproduce.teachers import Simulation

TEACHERS, SOURCES = "teachers", "sources"
_TEACHER_EPOCHS = 21  # what teachers took with the paper's settings; how many is known afterwards


def alone(size: int) -> str:
    """The stage of the student of that many examples of the target."""
    return f"single task, {size} examples"


def heads(size: int) -> str:
    """The stage of the heads on that many examples of the target."""
    return f"heads, {size} examples"


class Shares:
    """What each stage of a simulation is of the whole, roughly.

    A CPU's time goes into products, one for each parameter and example; a GPU's into starting
    steps, whatever is in them.

    Args:
        simulation: Its settings.
        device: Where the networks are.

    Example:
        >>> import torch
        >>> from tawt.reproduce.teachers import Simulation
        >>> shares = Shares(Simulation.tiny(), torch.device("cpu"))
        >>> shares.done("teachers", 0), shares.done("heads, 1000 examples", 40)
        (0.0, 1.0)
    """

    def __init__(self, simulation: Simulation, device: torch.device) -> None:
        networks, epochs = len(simulation.flip_rates), simulation.epochs
        head = simulation.hidden * simulation.classes
        whole = simulation.inputs * simulation.hidden + head
        sizes = simulation.target_sizes

        def epoch(examples: int, parameters: int) -> int:
            if device.type == "cpu":
                return examples * parameters
            return -(-examples // simulation.batch_size)

        self._stages = {
            TEACHERS: (
                min(_TEACHER_EPOCHS, simulation.teacher_epochs),
                epoch(simulation.examples, networks * whole),
            ),
            SOURCES: (epochs, epoch(simulation.source_size, networks * whole)),
            **{alone(size): (epochs, epoch(size, whole)) for size in sizes},
            **{heads(size): (epochs, epoch(size, networks * head)) for size in sizes},
        }

    def done(self, stage: str, epochs: float) -> float:
        """The share that is done, from 0 to 1, when so many epochs of a stage are."""
        costs = {name: bound * epoch for name, (bound, epoch) in self._stages.items()}
        names = list(costs)
        before = sum(costs[name] for name in names[: names.index(stage)])
        bound, epoch = self._stages[stage]
        return (before + min(epochs, bound) * epoch) / sum(costs.values())
