"""What each phase may see: its tasks, their examples, and the order of its steps."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from tawt.gradients import trainable
from tawt.per_example import ExampleNorms
from tawt.streams import stream
from tawt.tasks.examples import Subset
from tawt.training.each import EachExample
from tawt.training.fitted import outputs_to_fit
from tawt.training.fresh import FreshLosses
from tawt.training.passes import check_mixed, most_passes, steps_per_epoch, why_unlimited
from tawt.training.processes import Processes
from tawt.training.recorded import RecordedPasses
from tawt.training.rounds import update_steps
from tawt.training.schedule import Schedule
from tawt.training.settings import Settings
from tawt.training.watching import AIM_EVERY, PIECES
from tawt.weighting import Fixed
from tawt.weights.findings import FEWEST_EXAMPLES, FEWEST_UPDATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from accelerate import Accelerator

    from tawt.hypergradient.passes import LossOf
    from tawt.tasks import Examples, MultiTaskModel, Task
    from tawt.training.paradigms import Phase
    from tawt.training.recorded import Recorder
    from tawt.units import Units
    from tawt.weighting import Weighting
    from tawt.weights import WeightUpdate

_EXPLORED = 0.05  # of the steps, so that tasks of little weight are seen now and then
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

    def remarks(self, phases: Iterable[Phase]) -> list[str]:
        """What a person would want to know of the steps, each in a sentence."""
        found = []
        for phase in phases:
            if phase.weighs_sources:
                examples = self.examples(phase, self._weighting.weights.names)
                sizes = {name: len(each) for name, each in examples.items()}
                size, epochs = self._settings.batch_size, phase.epochs
                said = why_unlimited(sizes, self._settings, batch_size=size, epochs=epochs)
                found += [] if said is None else [said]
                said_of_updates = self._few_updates(phase)
                found += said_of_updates or self._untold(phase)
        return found

    def _few_updates(self, phase: Phase) -> list[str]:
        """A sentence, if the phase is over before weights can move."""
        if isinstance(self._weighting, Fixed):
            return []
        needed = self._updates_needed(phase)
        steps, first = self._steps(phase), next(islice(self._due(phase), needed - 1, None))
        if steps >= first:
            return []
        return [
            f"there are {steps} steps on the sources, and weights move after {first} at the "
            "earliest: they will stay where they start. Set `training.update_every` to "
            f"{max(1, steps // (4 * needed))}, or train longer."
        ]

    def _steps(self, phase: Phase) -> int:
        return phase.epochs * self.schedule(phase).length

    def _due(self, phase: Phase) -> Iterator[int]:
        """Steps after which weights are updated, without end."""
        every = self._settings.update_every
        growth = self._settings.update_growth if every else 0.0
        return update_steps(every or self.schedule(phase).length, growth=growth)

    def _untold(self, phase: Phase) -> list[str]:
        """A sentence, if nothing will be said of sources though it might be expected."""
        weighting, settings = self._weighting, self._settings
        sources = set(weighting.weights.names) - set(self.targets)
        if not weighting.goes_by_evidence or len(sources) == 1:  # which leads nobody
            return []
        if settings.measure == "training steps":
            return [
                "weights are learned from training steps, which do not show what other examples of "
                "the target would: whether a source helps is not said, and weights stay closer "
                "together. `training.measure: fresh batches` tells more."
            ]
        if settings.target_from == "all":
            return [
                "updates see all of the target's examples at once, which does not show what others "
                "would: whether a source helps is not said, and weights stay closer together. Set "
                "`training.target_from` to halves in turn to be told more."
            ]
        examples = self._fewest_examples([phase])
        if examples < FEWEST_EXAMPLES:
            return [
                f"the target has {examples} examples to measure by, and it takes {FEWEST_EXAMPLES} "
                "to say whether a source helps or hurts"
            ]
        steps = self._steps(phase)
        updates = sum(1 for _ in takewhile(lambda due: due <= steps, self._due(phase)))
        if updates >= FEWEST_UPDATES:
            return []
        return [
            f"there will be {updates} updates of the weights, and it takes {FEWEST_UPDATES} to say "
            "whether a source helps or hurts: lower `training.update_every`, or train longer"
        ]

    def tells_sources(self, phases: Iterable[Phase]) -> bool:
        """Whether the targets have examples enough for what is said of sources to be right."""
        return self._fewest_examples(phases) >= FEWEST_EXAMPLES

    def _fewest_examples(self, phases: Iterable[Phase]) -> int:
        """Of a target, where sources are weighed."""
        found = [self.examples(phase, self.targets) for phase in phases if phase.weighs_sources]
        return min((len(each) for part in found for each in part.values()), default=0)

    def _updates_needed(self, phase: Phase) -> int:
        """How many it takes until weights move: by evidence, two that can be compared."""
        by_evidence = self._weighting.goes_by_evidence
        if not by_evidence or self._settings.measure != "fresh batches":
            return 1
        return 2 if self._target_half(phase) is None else 4  # two pairs of halves

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
            guarded=self._settings.guard,
            epochs=epochs,
            lengths={name: known for name, known in lengths.items() if known is not None},
        )

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
        half = self._target_half(phase)
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

    def fits_heads(self, model: MultiTaskModel) -> bool:
        """Whether updates fit the targets' heads by themselves, for what they measure alone."""
        known = [outputs_to_fit(model, self.tasks[name]) for name in self.targets]
        return self._through_fitted and None not in known

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
            part=Processes.of(accelerator).own_part,
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
    ) -> EachExample | None:
        """The losses of single examples, where there are units to measure by them."""
        if not self._units.finer:
            return None
        one_by_one = (
            self._weighting.needs_norms
            and ExampleNorms(model, trainable(model.representation)).one_by_one
        )
        return EachExample(
            model,
            self.tasks,
            self.examples(phase, self._units.names),
            at_once=_ONE_BY_ONE if one_by_one else 4 * self._settings.batch_size,
            most=self._settings.unit_examples,
            draw=stream(self._seed, "units", update),
            device=accelerator.device,
            part=Processes.of(accelerator).own_part,
        )

    def _target_half(self, phase: Phase) -> int | None:
        """Which half of the targets' examples the next update sees; none, if it may see all."""
        if self._settings.target_from == "all" or not self._weighting.judges_sources:
            return None
        is_halved = self._fewest_examples([phase]) >= _FEWEST_HALVED
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
