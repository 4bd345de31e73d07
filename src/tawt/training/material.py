"""What each phase may see: its tasks, their examples, and the order of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tawt.gradients import trainable, untouched
from tawt.per_example import ExampleNorms
from tawt.streams import stream
from tawt.tasks.examples import Subset
from tawt.training.each import ExampleLosses
from tawt.training.fitted import is_enough, outputs_to_fit
from tawt.training.fresh import FreshLosses
from tawt.training.passes import check_mixed, most_passes, steps_per_epoch, too_often
from tawt.training.processes import TrainingProcesses
from tawt.training.recorded import RecordedPasses
from tawt.training.schedule import Schedule
from tawt.training.settings import Settings
from tawt.training.watching import AIM_EVERY, PIECES
from tawt.weighting import Fixed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from accelerate import Accelerator

    from tawt.hypergradient.passes import LossOf
    from tawt.tasks import Examples, MultiTaskModel, Task
    from tawt.training.paradigms import Phase
    from tawt.training.recorded import Recorder
    from tawt.units import Units
    from tawt.weighting import Weighting
    from tawt.weights import History, WeightUpdate

_EXPLORED = 0.05  # of the steps, so that tasks of little weight are seen now and then
_NO_UPDATE = 0  # they are numbered by steps, from 1
_FEWEST_HALVED = 4  # examples of a target: heads are fitted on a half of a half
_ONE_BY_ONE = 8  # examples in a batch, each of which takes a backward pass through all of it
_UNLIMITED = Settings()  # a phase on the target takes all of its passes


class Material:
    """Tasks by name and role.

    Args:
        tasks: Sources and targets.
        targets: The share each target has.
        weighting: What the sources (and in joint training the targets) are weighed by.
        settings: Of the loop.
        seed: Of the run.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        targets: Mapping[str, float],
        weighting: Weighting,
        settings: Settings,
        *,
        seed: int,
    ) -> None:
        self.tasks = {task.name: task for task in tasks}
        self.targets = dict(targets)
        self._weighting = weighting
        self._settings = settings
        self._seed = seed
        self._parts = {name: self._halves(name) for name in targets}
        self._sources = {
            name: task.train.with_own_means() if name in self._units.finer else task.train
            for name, task in self.tasks.items()
            if name not in targets
        }

    @property
    def _units(self) -> Units:
        return self._weighting.weights.units

    @property
    def history(self) -> History:
        """Of the weights."""
        return self._weighting.history

    def sizes(self, phases: Iterable[Phase]) -> dict[str, int]:
        """Training examples of every task that is weighed, as many as are trained on."""
        weighing = next((phase for phase in phases if phase.weighs_sources), None)
        names = self._weighting.weights.names
        if weighing is None:
            return {name: len(self.tasks[name].train) for name in names}
        return {name: len(found) for name, found in self.examples(weighing, names).items()}

    def passes(self, taken: Mapping[str, int]) -> dict[str, float]:
        """How often the examples of each task were trained on, on average.

        Args:
            taken: How many examples of each task the steps have had.
        """
        return {name: taken.get(name, 0) / len(task.train) for name, task in self.tasks.items()}

    def weighting(self, phase: Phase) -> Weighting:
        """What the phase's objective is weighed by; the targets alone have their own shares."""
        if phase.weighs_sources:
            return self._weighting
        return Fixed(list(self.targets), initial=self.targets)

    def examples(self, phase: Phase, names: Iterable[str]) -> dict[str, Examples]:
        """The training examples of these tasks that the phase may see."""
        return {
            name: self._parts[name][phase.target_part]
            if name in self._parts
            else self._sources[name]
            for name in names
        }

    def check(self, phases: Iterable[Phase]) -> None:
        """Refuse steps that the examples of a phase are not enough for.

        Raises:
            ConfigError: Saying how many there are.
        """
        for phase in phases:
            self.schedule(phase)

    def fewest_examples(self, phases: Iterable[Phase]) -> int:
        """Of a target, where sources are weighed."""
        found = [self.examples(phase, self.targets) for phase in phases if phase.weighs_sources]
        return min((len(each) for part in found for each in part.values()), default=0)

    def schedule(self, phase: Phase) -> Schedule:
        """The phase's steps."""
        names = self._weighting.weights.names if phase.weighs_sources else self.targets
        examples = self.examples(phase, names)
        watched = (
            phase.weighs_sources
            and self._settings.measure == "training steps"
            and self._weighting.observing() is not None
        )
        lengths = {name: found.lengths for name, found in examples.items()}
        sizes = {name: len(found) for name, found in examples.items()}
        limited = self._settings if phase.weighs_sources else _UNLIMITED
        batch_size, epochs = self._settings.batch_size, phase.epochs
        if self._settings.sampling == "mixed":
            check_mixed([self.tasks[name] for name in names])
        return Schedule(
            sizes,
            batch_size=batch_size,
            sampling=self._settings.sampling,
            explored=self._explored(names) if watched else 0.0,
            # A gradient of one task says what one of several does not.
            hold=self._settings.accumulation if watched else 1,
            apart_every=AIM_EVERY if watched else None,
            pieces=PIECES if watched and self._takes_pieces(names) else 1,
            seed=self._seed,
            phase=phase.name,
            steps_per_epoch=steps_per_epoch(limited, epochs),
            most_passes=most_passes(sizes, limited, batch_size=batch_size, epochs=epochs),
            too_often=self._too_often(phase, sizes),
            guarded=self._settings.guard,
            epochs=epochs,
            lengths={name: known for name, known in lengths.items() if known is not None},
        )

    def _too_often(self, phase: Phase, sizes: Mapping[str, int]) -> dict[str, float]:
        """Of sources; how often a target is passed over is what its share was chosen for."""
        if not phase.weighs_sources:
            return {}
        shares = self._weighting.weights.shares()
        used = {n: size for n, size in sizes.items() if n not in self.targets and shares[n] > 0}
        return too_often(used, self._settings, epochs=phase.epochs, all_sizes=sizes)

    def _explored(self, names: Iterable[str]) -> float:
        """The same share of all examples, whether all steps are watched or few."""
        few = self._settings.sampling == "mixed" and self._takes_pieces(names)
        return _EXPLORED * (AIM_EVERY if few else 1)

    def _takes_pieces(self, names: Iterable[str]) -> bool:
        """Whether a step that is watched is taken piece by piece.

        Not where a target's own step is the direction of others, for which a piece is too little.
        """
        return not set(names) & set(self.targets)

    def update(
        self,
        phase: Phase,
        model: MultiTaskModel,
        accelerator: Accelerator,
        recorder: Recorder | None,
        *,
        step: int,
        watched: bool = False,
    ) -> WeightUpdate | None:
        """Move the weights, by examples that the phase may see.

        Each of several processes measures its part of them. Where training steps were `watched`,
        what they showed is enough.
        """
        if watched:
            return self._weighting.update(step=step)
        half = self.target_half(phase)
        fresh = self._fresh(phase, model, accelerator, update=step, half=half)
        # A fit is no work that can be recorded.
        loss_of: LossOf = fresh
        if recorder is not None and not fresh.fitted:
            loss_of = RecordedPasses(fresh, recorder)
        if accelerator.num_processes > 1:
            loss_of = fresh.counted
        each = self._each(phase, model, accelerator, update=step)
        about: dict[str, Any] = {} if half is None else {"target_half": half}
        return self._weighting.update(
            model.representation,
            loss_of=loss_of,
            losses_of=each,
            step=step,
            touching=[model],
            **about,
        )

    def gains(
        self, phase: Phase, model: MultiTaskModel, accelerator: Accelerator
    ) -> dict[str, list[float]]:
        """What vectors say of each target, on the same examples whenever it is asked.

        By how much each example's loss through a head that was fitted on others is lower than
        without its vector. Nothing is known of targets without a linear head.
        """
        with untouched([model]), torch.no_grad():
            fresh = self._fresh(phase, model, accelerator, update=_NO_UPDATE)
            found = {name: fresh.gains(name) for name in self.targets}
        return {name: gains for name, gains in found.items() if gains}

    def fits_heads(self, model: MultiTaskModel, phase: Phase) -> bool:
        """Whether updates fit the targets' heads by themselves, for what they measure alone."""
        if not self._through_fitted:
            return False
        known = [outputs_to_fit(model, self.tasks[name]) for name in self.targets]
        examples = self.examples(phase, self.targets).values()
        return None not in known and all(map(is_enough, examples))

    @property
    def _through_fitted(self) -> bool:
        settings = self._settings
        fresh = settings.measure == "fresh batches" and not self._units.finer
        return fresh and settings.measure_through == "fitted heads"

    def aim(
        self, phase: Phase, model: MultiTaskModel, accelerator: Accelerator, *, step: int
    ) -> None:
        """Take the targets' gradient on few examples, for steps to be compared with."""
        fresh = self._fresh(phase, model, accelerator, update=step, part=AIM_EVERY)
        loss_of: LossOf = fresh.counted if accelerator.num_processes > 1 else fresh
        self._weighting.aim(model.representation, loss_of=loss_of, touching=[model])

    def _fresh(
        self,
        phase: Phase,
        model: MultiTaskModel,
        accelerator: Accelerator,
        *,
        update: int,
        part: int = 1,
        half: int | None = None,
    ) -> FreshLosses:
        settings, names = self._settings, [*self._weighting.weights.names, *self.targets]
        examples = self.examples(phase, names)
        beside: dict[str, Examples] = {}
        if half is not None:
            whole = {name: examples[name] for name in self.targets}
            examples |= {name: self._half_of(name, found, half) for name, found in whole.items()}
            beside = {name: self._half_of(name, found, 1 - half) for name, found in whole.items()}
        counts = dict.fromkeys(names, settings.gradient_examples)
        if settings.target_examples is not None:
            counts |= dict.fromkeys(self.targets, settings.target_examples)
        return FreshLosses(
            model,
            self.tasks,
            examples,
            counts={name: -(-count // part) for name, count in counts.items()},
            weighting=self._weighting,
            seed=self._seed,
            update=update,
            device=accelerator.device,
            autocast=accelerator.autocast,
            part=TrainingProcesses.of(accelerator).own_part,
            fits_heads=self._through_fitted,
            beside=beside,
        )

    def _each(
        self,
        phase: Phase,
        model: MultiTaskModel,
        accelerator: Accelerator,
        *,
        update: int,
    ) -> ExampleLosses | None:
        """The losses of single examples, where there are units to measure by them."""
        if not self._units.finer:
            return None
        one_by_one = (
            self._weighting.needs_norms
            and ExampleNorms(model, trainable(model.representation)).one_by_one
        )
        return ExampleLosses(
            model,
            self.tasks,
            self.examples(phase, self._units.names),
            at_once=_ONE_BY_ONE if one_by_one else 4 * self._settings.batch_size,
            most=self._settings.unit_examples,
            draw=stream(self._seed, "units", update),
            device=accelerator.device,
            part=TrainingProcesses.of(accelerator).own_part,
        )

    def target_half(self, phase: Phase) -> int | None:
        """Which half of the targets' examples the next update sees; none, if it may see all."""
        if self._settings.target_from == "all" or not self._weighting.judges_sources:
            return None
        is_halved = self.fewest_examples([phase]) >= _FEWEST_HALVED
        return self._weighting.history.updates % 2 if is_halved else None

    def _half_of(self, name: str, examples: Examples, half: int) -> Examples:
        """One half of a target's examples, cut anew for every second update."""
        turn = self._weighting.history.updates // 2
        order = stream(self._seed, "target halves", name, turn).permutation(len(examples))
        return Subset(examples, order[half::2])

    def _halves(self, name: str) -> dict[str, Examples]:
        train = self.tasks[name].train
        order = stream(self._seed, "halves", name).permutation(len(train))
        middle = max(1, len(train) // 2)
        return {
            "all": train,
            "first": Subset(train, order[:middle]),
            "second": Subset(train, order[middle:] if len(train) > 1 else order),
        }
