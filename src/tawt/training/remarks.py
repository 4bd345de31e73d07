"""What a person would want to know of the steps before they are taken."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from tawt.training.passes import why_unlimited
from tawt.training.rounds import update_steps
from tawt.weighting import Fixed
from tawt.weights.findings import FEWEST_EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tawt.training.material import Material
    from tawt.training.paradigms import Phase
    from tawt.training.settings import Settings


@dataclass(frozen=True)
class Remarks:
    """Sentences on the phases of a training.

    Args:
        material: What each phase may see.
        settings: Of the loop.
    """

    material: Material
    settings: Settings

    def on(self, phases: Iterable[Phase]) -> list[str]:
        """All of them, in the order of the phases."""
        found = []
        for phase in phases:
            if phase.weighs_sources:
                found += self._passes(phase)
                found += self._few_updates(phase) or self._untold(phase)
        return found

    def _passes(self, phase: Phase) -> list[str]:
        """A sentence, if the usual limit on passes cannot be kept."""
        names = self.material.weighting(phase).weights.names
        sizes = {name: len(each) for name, each in self.material.examples(phase, names).items()}
        size, epochs = self.settings.batch_size, phase.epochs
        said = why_unlimited(sizes, self.settings, batch_size=size, epochs=epochs)
        return [] if said is None else [said]

    def _few_updates(self, phase: Phase) -> list[str]:
        """A sentence, if the phase is over before weights can move."""
        if isinstance(self.material.weighting(phase), Fixed):
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

    def _untold(self, phase: Phase) -> list[str]:
        """A sentence, if nothing will be said of sources though it might be expected."""
        weighting, settings = self.material.weighting(phase), self.settings
        sources = set(weighting.weights.names) - set(self.material.targets)
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
        examples = self.material.fewest_examples([phase])
        if examples < FEWEST_EXAMPLES:
            return [
                f"the target has {examples} examples to measure by, and it takes {FEWEST_EXAMPLES} "
                "to say whether a source helps or hurts"
            ]
        return []

    def _steps(self, phase: Phase) -> int:
        return phase.epochs * self.material.schedule(phase).length

    def _due(self, phase: Phase) -> Iterator[int]:
        """Steps after which weights are updated, without end."""
        every = self.settings.update_every
        growth = self.settings.update_growth if every else 0.0
        return update_steps(every or self.material.schedule(phase).length, growth=growth)

    def _updates_needed(self, phase: Phase) -> int:
        """How many it takes until weights move: by evidence, two that can be compared."""
        by_evidence = self.material.weighting(phase).goes_by_evidence
        if not by_evidence or self.settings.measure != "fresh batches":
            return 1
        return 2 if self.material.target_half(phase) is None else 4  # two pairs of halves
