"""Whether each source helps or hurts, by the updates of a weighting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tawt.hypergradient import Cosine
from tawt.weights import Finding, findings
from tawt.weights.findings import alignments_of, projections_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.hypergradient import Alignment
    from tawt.weights import History


def judged(
    history: History,
    sources: Sequence[str],
    *,
    initial: Mapping[str, float],
    alignment: Alignment,
    intervals: Mapping[str, tuple[float, float]],
) -> dict[str, Finding]:
    """Findings of sources; nothing, if no update has seen a half of the target's examples.

    Chance cannot be told from anything then.

    Args:
        history: All updates.
        sources: Names of those that are judged.
        initial: Weights that tasks began with.
        alignment: What updates measured. Cosines are held against parts along the target's gradient
            too.
        intervals: Of the weights, where they are known.
    """
    if not any(update.target_half is not None for update in history):
        return {}
    shows_cosines = isinstance(alignment, Cosine)
    views = (alignments_of, projections_of) if shows_cosines else (alignments_of,)
    found = findings(history, sources, initial=initial, views=views)
    return {
        name: replace(finding, weight_interval=intervals.get(name))
        for name, finding in found.items()
    }
