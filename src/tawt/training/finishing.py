"""What a finished training came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.training.result import Predictions, TrainingResult
from tawt.weights.findings import FEWEST_EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.training.material import Material
    from tawt.training.paradigms import Phase
    from tawt.weighting import Weighting


def finished(  # noqa: PLR0913 - what a training came to, each by its name
    material: Material,
    weighting: Weighting,
    phases: Sequence[Phase],
    *,
    splits: Mapping[str, Mapping[str, Predictions]],
    epochs: list[dict[str, Any]],
    kept: int | None,
    skipped: Mapping[str, int],
    taken: Mapping[str, int],
    steps: int,
    warnings: Sequence[str],
) -> TrainingResult:
    """The result of a training.

    Args:
        material: Tasks and targets.
        weighting: At the end.
        phases: What was done.
        splits: Predictions by split and target.
        epochs: One entry an epoch.
        kept: Position of the epoch whose model is kept; none, if it is the one of before.
        skipped: Steps left out, by task.
        taken: How many examples of each task were trained on.
        steps: Taken in all.
        warnings: What the guard has said.
    """
    is_enough = material.fewest_examples(phases) >= FEWEST_EXAMPLES
    in_parts = any(update.target_half is not None for update in weighting.history)
    kinds = {name: material.tasks[name].kind for name in material.targets}
    return TrainingResult(
        metric={name: kind.metric for name, kind in kinds.items()},
        measure={name: kind.measure for name, kind in kinds.items()},
        predictions={
            name: {split: found[name] for split, found in splits.items() if name in found}
            for name in material.targets
        },
        weights=weighting.weights.shares(),
        multipliers=weighting.weights.multipliers(material.sizes(phases)),
        history=list(weighting.history),
        epochs=epochs,
        best_epoch=kept,
        skipped_steps={name: count for name, count in skipped.items() if count},
        passes=material.passes(taken),
        steps=steps,
        findings=weighting.findings() if in_parts and is_enough else {},
        warnings=list(warnings),
        outcome=weighting.outcome(),
    )
