"""What training leaves in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tawt.tasks import Measure
    from tawt.weighting import Outcome
    from tawt.weights import Finding, WeightUpdate


@dataclass(frozen=True)
class Predictions:
    """Gold and predicted answers on one split, and their scores."""

    gold: list[Any]
    predicted: list[Any]
    scores: dict[str, float]
    example_scores: list[float]
    """One per example, higher is better, for paired tests."""


@dataclass(frozen=True)
class TrainingResult:
    """The outcome of a training run; the model it was given holds the trained parameters."""

    metric: dict[str, str]
    """Which score counts, for each target."""
    measure: dict[str, Measure]
    """How that score is read."""
    predictions: dict[str, dict[str, Predictions]]
    """By target and split ("dev", "test"), as far as there are such examples."""
    weights: dict[str, float]
    """Final shares ω."""
    multipliers: dict[str, float]
    """The same read per example: ω_t N / n_t."""
    history: list[WeightUpdate]
    epochs: list[dict[str, Any]] = field(default_factory=list)
    """One entry an epoch: phase, mean loss, dev scores, effective sample size."""
    best_epoch: int | None = None
    """Position in `epochs` of the kept model; the last where there was nothing to choose by, none
    where all were so much worse than the start that the model was put back."""
    skipped_steps: dict[str, int] = field(default_factory=dict)
    """Steps left out because a number was not finite, by task."""
    passes: dict[str, float] = field(default_factory=dict)
    """How often the examples of each task were trained on, on average."""
    steps: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)
    """Whether each source helps or hurts, where updates took the target's examples in parts."""
    warnings: list[str] = field(default_factory=list)
    """What was seen to go wrong by the weights, a sentence each."""
    outcome: Outcome | None = None
    """The weights of all units, and how well each agreed with the target; `Outcome.weights.units`
    says what they are put on."""

    @property
    def scores(self) -> dict[str, dict[str, dict[str, float]]]:
        """Scores by target, split and name."""
        return {
            target: {split: found.scores for split, found in splits.items()}
            for target, splits in self.predictions.items()
        }
