"""What updates have shown of each source: whether it helps, hurts, or cannot be told.

A source helps if its alignment is above that of what would take its place, were it left out: the
other sources, by their weights. That is its *lead* at an update, and its mean over updates is what
is judged. So a source that would help beside poor ones hurts beside better ones that have the
weight, and where updates grow rarer, early ones decide. How far the mean is off has two reasons:

- every update sees some examples of the sources and of the target;
- all of them see the same target, which has so many examples and no more.

Updates that see the two halves of the target's examples in turn, cut at random each time
(`target_from` of the training), show both: half the difference of two halves varies as the mean of
all examples would with others (the delete-half jackknife), and with the noise of an update; the
mean of two halves with that noise alone. The variances of a source are drawn towards those of all
sources. Without halves every update is taken to see other examples; the differences of successive
updates are the noise then, whatever the leads do in the long run.

A cosine says nothing of how far a source moves the representation: one that is a little less in
line, but has gradients three times as long, does more for the target. The part of its gradient
along the target's says so. So what is said must hold for both.

Leads that are hardly larger than the noise say little of their sign, even those that seem to, since
they are the largest of several. So all are drawn towards zero, the more the less their variance is
above that of the noise (as James and Stein do, but never all the way).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tawt.weights.student import probability_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from tawt.weights.history import WeightUpdate

    Array = NDArray[np.float64]

SURE = 0.9
"""Probability from which it is said that a source helps, or hurts."""
FEWEST_EXAMPLES = 12
"""Of a target: with fewer, statements are wrong more often than they say."""
FEWEST_UPDATES = 8
"""In pairs of halves, of which anything can be said."""
_POOLED = 2.0  # what the variance of all sources counts beside a source's own
_TAKEN_OFF = 2.5  # times the noise, of the variance of the leads: of few sources it is a guess
_DOUBTED = 20.0  # times the noise, where taking it off leaves less
_FEWEST = FEWEST_UPDATES // 2  # pairs; without halves, updates


@dataclass(frozen=True)
class Finding:
    """What is known of a source."""

    lead: float
    """Alignment above that of the other sources, mean over updates."""
    error: float
    """Standard error of that; infinite where nothing can be said of it."""
    probability: float
    """That it helps: that its lead is positive, in cosines and in parts along the target's
    gradient; of the two, the one that is nearer to even."""
    weight_interval: tuple[float, float] | None = None
    """Where its final weight would lie in nine of ten runs with other examples, where weights go by
    evidence."""

    @property
    def verdict(self) -> Literal["helps", "hurts", "cannot tell"]:
        """In a word."""
        if self.probability >= SURE:
            return "helps"
        return "hurts" if self.probability <= 1 - SURE else "cannot tell"

    def to_json(self) -> dict[str, Any]:
        """In values that JSON knows: an error that is not known is none."""
        error = self.error if math.isfinite(self.error) else None
        known = {"lead": self.lead, "error": error, "probability": self.probability}
        ends = {} if self.weight_interval is None else {"weight_interval": [*self.weight_interval]}
        return {**known, "verdict": self.verdict, **ends}


View = Callable[["WeightUpdate"], "Mapping[str, float | None]"]
"""What is read from an update, by unit."""


def alignments_of(update: WeightUpdate) -> Mapping[str, float | None]:
    """What moved the weights."""
    return update.alignments


def projections_of(update: WeightUpdate) -> Mapping[str, float | None]:
    """The part of each gradient along the target's, where alignments are cosines.

    In units of the size of all gradients, which changes in training.

    Example:
        >>> from tawt.weights import WeightUpdate
        >>> cosines = {"near": 0.5, "far": 0.1}
        >>> projections_of(WeightUpdate(1, {}, {}, cosines, norms={"near": 0.3, "far": 0.3}))
        {'near': 0.5, 'far': 0.1}
    """
    lengths = [update.norms.get(name) for name in update.alignments]
    known = [length for length in lengths if length is not None]
    size = math.hypot(*known) / math.sqrt(max(1, len(known)))
    found: dict[str, float | None] = {}
    for (name, cosine), length in zip(update.alignments.items(), lengths, strict=True):
        if cosine is None or length is None or not 0 < size < math.inf:
            found[name] = None
        else:
            found[name] = cosine * (length / size)
    return found


def findings(
    history: Iterable[WeightUpdate],
    sources: Sequence[str],
    *,
    initial: Mapping[str, float] | None = None,
    views: Sequence[View] = (alignments_of,),
) -> dict[str, Finding]:
    """What the updates of a run say of its sources; nothing, where they measured none.

    Args:
        history: Updates in their order.
        sources: Whose weights were learned, without targets; one source has nothing to lead.
        initial: Weights before the first update; equal by default.
        views: What must all say the same. Leads and errors are those of the first.

    Example:
        >>> from tawt.weights import WeightUpdate
        >>> shares = {"near": 0.5, "far": 0.5}
        >>> history = [
        ...     WeightUpdate(step, shares, {}, {"near": 0.4 + off, "far": 0.1 - off})
        ...     for step, off in enumerate([0.02, -0.01, 0.01, 0.0, -0.02, 0.01])
        ... ]
        >>> found = findings(history, ["near", "far"])
        >>> round(found["near"].lead, 2), found["near"].verdict, found["far"].verdict
        (0.3, 'helps', 'hurts')
    """
    if len(sources) < 2:
        return {}
    began = initial or dict.fromkeys(sources, 1.0)
    updates = list(history)
    found = [_seen(_leads(updates, sources, began, view)) for view in views]
    means, errors, _ = found[0]
    if not len(means):
        return {}
    chances = np.array([_doubted([seen[2][at] for seen in found]) for at in range(len(sources))])
    rows = zip(sources, means.tolist(), errors.tolist(), chances.tolist(), strict=True)
    return {
        name: Finding(lead=mean, error=error, probability=chance)
        for name, mean, error, chance in rows
    }


def _doubted(chances: Sequence[float]) -> float:
    """The one that is nearest to even, and even where they lie on both sides of it."""
    low, high = min(chances), max(chances)
    return float(min(max(0.5, low), high))


def _seen(leads: tuple[Array, list[int | None]]) -> tuple[Array, Array, list[float]]:
    """Of every source its mean lead, the error of that, and the probability that it is positive."""
    rows, halves = leads
    if not len(rows):
        nothing = np.zeros(0)
        return nothing, nothing, [0.5] * rows.shape[1]
    means = rows.mean(0)
    errors, freedom = _errors(rows, halves)
    signal = _signal(float(np.mean(means**2)), float(np.mean(errors**2)))
    chances = []
    for mean, error in zip(means.tolist(), errors.tolist(), strict=True):
        if not math.isfinite(error):
            chances.append(0.5)
        elif error == 0:
            chances.append(0.5 + 0.5 * float(np.sign(mean)))
        else:
            shrunk = mean / error * math.sqrt(signal / (signal + error**2))
            chances.append(probability_below(shrunk, freedom))
    return means, errors, chances


def _signal(leads: float, noise: float) -> float:
    """The variance of the true leads, where measured ones have this one, and noise that.

    The noise is taken off, and more, since of few sources both are guesses; but never all.
    """
    if not math.isfinite(noise) or leads == 0:
        return 0.0
    return max(leads - _TAKEN_OFF * noise, leads**2 / (leads + _DOUBTED * noise))


def _leads(
    history: Iterable[WeightUpdate],
    sources: Sequence[str],
    initial: Mapping[str, float],
    view: View,
) -> tuple[Array, list[int | None]]:
    """Of each source at each update that measured all of them; and the update's half."""
    rows, halves = [], []
    weights = np.array([initial[name] for name in sources])
    for update in history:
        values = view(update)
        given = [values.get(name) for name in sources]
        if update.skipped is None and all(value is not None for value in given):
            alignments = np.array(given, dtype=np.float64)
            rows.append(_over_others(alignments, weights))
            halves.append(update.target_half)
        weights = np.array([update.weights.get(name, 0.0) for name in sources])
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(sources)), halves


def _over_others(alignments: Array, weights: Array) -> Array:
    """Of each source over the others, by the weights they were trained with."""
    others = 1.0 - np.eye(len(weights))
    totals, sums = others @ weights, others @ (weights * alignments)
    alike = others @ alignments / (len(weights) - 1)  # where the others have no weight
    return alignments - np.divide(sums, totals, out=alike, where=totals > 0)


def _errors(leads: Array, halves: Sequence[int | None]) -> tuple[Array, float]:
    """Standard errors of the mean leads, and their degrees of freedom."""
    updates, sources = leads.shape
    paired = [at for at in range(updates - 1) if halves[at] == 0 and halves[at + 1] == 1]
    if updates < _FEWEST or (any(half is not None for half in halves) and len(paired) < _FEWEST):
        return np.full(sources, np.inf), 1.0
    if not paired:
        noise = np.square(np.diff(leads, axis=0)).sum(0) / (2 * (updates - 1))
        return np.sqrt(noise / updates), 2 * (updates - 1) / 3
    first, second = leads[paired], leads[[at + 1 for at in paired]]
    apart = _pooled(np.square((first - second) / 2).mean(0))
    noise = _pooled(np.square(np.diff((first + second) / 2, axis=0)).mean(0) / 2)
    square = np.maximum(apart - noise, 0.0) + noise / len(paired)
    # Leads of all sources are over each other: one of them follows from the rest.
    return np.sqrt(square), (len(paired) - 1) * min(1 + _POOLED, sources - 1)


def _pooled(variances: Array) -> Array:
    pooled: Array = (variances + _POOLED * variances.mean()) / (1 + _POOLED)
    return pooled
