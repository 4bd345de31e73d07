"""What the history keeps of an update."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tawt.weights import WeightUpdate
from tawt.weights.summary import summary_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.hypergradient import Hypergradient
    from tawt.weights import SourceWeights


def written(
    weights: SourceWeights,
    measured: Hypergradient,
    *,
    step: int,
    skipped: str | None,
    target_half: int | None = None,
    targets: Mapping[str, float] | None = None,
    leads: Mapping[str, float] | None = None,
    error: float | None = None,
    intervals: Mapping[str, tuple[float, float]] | None = None,
) -> WeightUpdate:
    """The line of an update.

    Args:
        weights: After it.
        measured: What moved them, or could not.
        step: What it is called.
        skipped: Why it was skipped, if it was.
        targets: Whose loss is kept, with their shares; nobody's by default.
        leads: Of the sources over the mean of all, where weights go by them.
        error: Of a lead.
        intervals: Of the weights, where they are known.
        target_half: Which half of the target's examples was measured, where they come in turn.
    """
    return WeightUpdate(
        step=step,
        weights=weights.shares(),
        log_weights=plain_numbers(weights.log_shares()),
        alignments=plain_numbers(measured.means),
        leads=plain_numbers({name: _short(lead) for name, lead in (leads or {}).items()}),
        error=None if error is None else _finite(_short(error)),
        intervals={name: [*map(_short, ends)] for name, ends in (intervals or {}).items()},
        norms=plain_numbers(measured.norms),
        target_norm=_finite(measured.target_norm),
        target_loss=_target_loss(measured, targets),
        skipped=skipped,
        summary=_summary(weights, measured),
        target_half=target_half,
    )


def _summary(weights: SourceWeights, measured: Hypergradient) -> dict[str, Any] | None:
    found = summary_of(weights)
    if found is None:
        return None
    error = measured.relative_error
    known = None if error is None else _finite(error)
    # Differences without a finite error were of no use, which the log has said.
    return {**found, "way": measured.way, "relative_error": known}


def _target_loss(measured: Hypergradient, targets: Mapping[str, float] | None) -> float | None:
    if targets is None or not all(name in measured.losses for name in targets):
        return None
    return _finite(sum(share * measured.losses[name] for name, share in targets.items()))


def plain_numbers(values: Mapping[str, float]) -> dict[str, float | None]:
    """Numbers by name, in values that JSON knows.

    Example:
        >>> plain_numbers({"pos": 0.5, "chunk": math.nan})
        {'pos': 0.5, 'chunk': None}
    """
    return {name: _finite(value) for name, value in values.items()}


def _short(value: float) -> float:
    """To six digits: more are in the state, where any depend on them."""
    return float(f"{value:.6g}")


def _finite(value: float) -> float | None:
    """`None` where JSON has no number for it."""
    return value if math.isfinite(value) else None
