"""Teachers and students: a simulation in which the distance between tasks is known.

The paper's appendix, "Settings for simulations on task distance" (fig. illustration). Inputs are
uniform and their labels random; a share q of the labels, the flip rate, is replaced by others; a
teacher learns each such dataset by heart. What a teacher says of fresh inputs is a task T_q. The
target is T_0, the source T_q, and students have the teachers' architecture.

Where the paper says nothing, this is so:

- the labels replaced at one flip rate are replaced by the same at any higher one;
- every network (teacher, student, head) has initial values of its own, as `torch.nn.Linear` draws
  them, and sees its examples in an order of its own;
- a teacher is done after the first epoch that leaves it with all examples right and a mean loss
  of at most `teacher_loss`;
- all sources have the same inputs; the source T_0 has the target's teacher, but other inputs; a
  smaller target's examples are among a larger one's;
- learning to learn leaves the source student's first layer as it is, and fits a new head to the
  target's examples for as many epochs as the student had.

Only `training/loop.py` steps optimisers, but for this simulation (in `networks_at_once`): eleven
networks at once are one batched product, for which the loop of one model has no place.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tawt.errors import ConfigError
from tawt.reproduce.by_heart import flipped, learned_by_heart
from tawt.reproduce.networks_at_once import Layer, fast_products, features, measured, predicted
from tawt.reproduce.shares import SOURCES, Shares, alone, heads
from tawt.reproduce.stages import Stages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Examples = tuple[Tensor, Tensor]  # inputs, and labels of shape `(networks, examples)`


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """How the simulation is set up; the paper's settings by default.

    Example:
        >>> Simulation().flip_rates[:3], Simulation(hidden=64).hidden
        ((0.0, 0.1, 0.2), 64)
    """

    inputs: int = 1000
    """Dimension of the inputs, each uniform on [-0.5, 0.5]."""
    classes: int = 10
    hidden: int = 4096
    """Hidden neurons of teachers and students."""
    examples: int = 10_000
    """Random examples that each teacher learns by heart."""
    source_size: int = 10_000
    """Examples of the source task."""
    target_sizes: tuple[int, ...] = (10, 30, 100, 300, 1000, 3000, 10_000)
    test_size: int = 10_000
    """Fresh inputs on which students are measured."""
    flip_rates: tuple[float, ...] = tuple(tenths / 10 for tenths in range(11))
    """Share of the labels replaced, for each source task; the first is 0, the target's."""
    epochs: int = 100
    """Of every student, and of every head."""
    teacher_epochs: int = 300
    """By which each teacher must know its examples by heart."""
    teacher_loss: float = 0.01
    """Mean loss with which it does: the paper's "almost zero"."""
    batch_size: int = 100
    learning_rate: float = 3e-4
    """Adam's."""

    def __post_init__(self) -> None:
        rates, sizes = self.flip_rates, self.target_sizes
        distinct = len(set(rates)) == len(rates) and len(set(sizes)) == len(sizes)
        if not distinct or rates[:1] != (0,) or min(rates) < 0 or max(rates) > 1:
            raise ConfigError(
                "`flip_rates` and `target_sizes` must each be distinct, and `flip_rates` lie "
                f"between 0 and 1, the first 0; got {rates} and {sizes}."
            )
        counts = {name: value for name, value in asdict(self).items() if isinstance(value, int)}
        wrong = {name: value for name, value in counts.items() if value < 1}
        if wrong or min(sizes, default=0) < 1:
            raise ConfigError(f"Sizes must be at least 1; got {wrong or {'target_sizes': sizes}}.")

    @classmethod
    def tiny(cls) -> Simulation:
        """Small, and still a near source helps more than a far one."""
        return cls(
            inputs=30,
            classes=4,
            hidden=128,
            examples=200,
            source_size=3000,
            target_sizes=(10, 30, 100, 300, 1000),
            test_size=1000,
            flip_rates=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
            epochs=40,
            batch_size=50,
            learning_rate=5e-3,
        )


def simulated(
    simulation: Simulation,
    *,
    seed: int,
    device: torch.device | str,
    on_progress: Callable[[float], None] = lambda share: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Run the simulation once.

    Args:
        simulation: Its settings.
        seed: Of every random choice; torch's own random state is left alone.
        device: Where the networks are. Random choices are the same on all devices.
        on_progress: Told the share that is done, from 0 to 1, after each step.
        should_stop: Asked after each step.

    Returns:
        A record of plain values, flip rates and sizes as strings: "settings", "seed", "teachers"
        (by flip rate: "accuracy", "loss", "epochs"), "agreement" (by flip rate: share of the test
        inputs that its teacher labels as the target's does), "single_task" (by target size:
        accuracy), "learning_to_learn" (by flip rate, by target size: accuracy), "source_accuracy"
        (by flip rate: that of the source student on fresh inputs of its own task), "seconds".

    Raises:
        TrainingError: A teacher did not learn its examples by heart in `teacher_epochs`.
        Interrupted: It was asked to stop.

    Example:
        >>> small = Simulation(
        ...     inputs=5, classes=2, hidden=32, examples=20, source_size=100, test_size=100,
        ...     target_sizes=(10,), flip_rates=(0.0, 1.0), batch_size=10, learning_rate=0.01,
        ...     epochs=5,
        ... )
        >>> record = simulated(small, seed=0, device="cpu")
        >>> record["teachers"]["1.0"]["accuracy"], list(record["learning_to_learn"]["0.0"])
        (1.0, ['10'])
    """
    begun = time.perf_counter()
    device = torch.device(device)
    shares = Shares(simulation, device)
    stages = Stages(
        seed=seed,
        device=device,
        batch_size=simulation.batch_size,
        learning_rate=simulation.learning_rate,
        on_progress=lambda stage, epochs: on_progress(shares.done(stage, epochs)),
        should_stop=should_stop,
    )
    with fast_products(device):
        results = _Students(simulation, stages).results()
    settings = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(simulation).items()
    }
    seconds = round(time.perf_counter() - begun, 3)
    return {"settings": settings, "seed": seed, **results, "seconds": seconds}


class _Students:
    """The tasks that the teachers make, and what students learn of them."""

    def __init__(self, simulation: Simulation, stages: Stages) -> None:
        self.simulation, self.stages = simulation, stages
        self.rates = [str(rate) for rate in simulation.flip_rates]
        self.widths = (simulation.inputs, simulation.hidden, simulation.classes)

    def results(self) -> dict[str, Any]:
        teachers, reached = self.teachers()
        source = self.task("source", teachers, self.simulation.source_size)
        target = self.task("target", teachers, max(self.simulation.target_sizes))
        test = self.task("test", teachers, self.simulation.test_size)
        del teachers  # their room is the students' now
        students = self.fitted(SOURCES, self.rates, self.widths, source)
        source_accuracy = measured(students, *test)[0]
        agreement = (test[1] == test[1][:1]).cpu().double().mean(dim=1)
        target, test = ((inputs, labels[:1]) for inputs, labels in (target, test))
        return {
            "teachers": reached,
            "agreement": self.by_rate(agreement),
            "single_task": self.single_task(target, test),
            "learning_to_learn": self.learning_to_learn(students[0], target, test),
            "source_accuracy": self.by_rate(source_accuracy),
        }

    def teachers(self) -> tuple[list[Layer], dict[str, dict[str, float]]]:
        simulation, generator = self.simulation, self.stages.generator("labels")
        count, classes = simulation.examples, simulation.classes
        labels = torch.randint(classes, (count,), generator=generator)
        labels = flipped(labels, simulation.flip_rates, classes=classes, generator=generator)
        return learned_by_heart(
            self.stages,
            self.rates,
            self.widths,
            self.stages.inputs("examples", (count, simulation.inputs)),
            labels.to(self.stages.device),
            loss=simulation.teacher_loss,
            bound=simulation.teacher_epochs,
        )

    def task(self, purpose: str, teachers: list[Layer], count: int) -> _Examples:
        inputs = self.stages.inputs(purpose, (count, self.simulation.inputs))
        return inputs, predicted(teachers, inputs)

    def fitted(
        self, stage: str, names: Sequence[str], widths: Sequence[int], examples: _Examples
    ) -> list[Layer]:
        return self.stages.fitted(stage, names, widths, *examples, epochs=self.simulation.epochs)

    def single_task(self, target: _Examples, test: _Examples) -> dict[str, float]:
        """Accuracy of a student of the target's examples alone, by their number."""
        inputs, labels = target
        found = {}
        for size in self.simulation.target_sizes:
            examples = inputs[:size], labels[:, :size]
            student = self.fitted(alone(size), ["alone"], self.widths, examples)
            found[str(size)] = float(measured(student, *test)[0])
        return found

    def learning_to_learn(
        self, layer: Layer, target: _Examples, test: _Examples
    ) -> dict[str, dict[str, float]]:
        """Accuracy of a new head on each source student's first layer, by rate and by size."""
        inputs, wanted = features(layer, target[0]), test[1].expand(len(self.rates), -1)
        labels = target[1].expand(len(self.rates), -1)
        found: dict[str, dict[str, float]] = {rate: {} for rate in self.rates}
        for size in self.simulation.target_sizes:
            examples = inputs[:, :size], labels[:, :size]
            head = self.fitted(heads(size), self.rates, self.widths[1:], examples)
            accuracies = measured([layer, *head], test[0], wanted)[0]
            for rate, accuracy in self.by_rate(accuracies).items():
                found[rate][str(size)] = accuracy
        return found

    def by_rate(self, values: Tensor) -> dict[str, float]:
        return dict(zip(self.rates, values.tolist(), strict=True))
