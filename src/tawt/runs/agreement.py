"""How well examples agree with the target beside others of the same label.

Where a whole label agrees less, so do all of its examples, right or wrong. So two things are told
apart: an example that agrees less than its label does, and a label that agrees less than the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tawt.tasks import Task
    from tawt.units import Coded

# A label is said to agree less as a whole if chance is no explanation, and if it matters: if it
# would fill a list of examples that leaves labels out of account.
_ERRORS, _DEVIATIONS = 3.0, 0.5


@dataclass(frozen=True, kw_only=True)
class LabelAgreement:
    """The examples that have a label."""

    label: str
    examples: int
    weight: float
    """Mean of what they count beside the average one of the source."""
    alignment: float | None
    """Mean of those that were measured."""
    error: float | None
    """Standard error of that mean; nothing for fewer than two."""
    others: float | None
    """Mean alignment of the source's examples without the label."""
    agrees_less: bool
    """Whether they agree less than the source's others, as a whole and by more than chance."""


def deviations(task: Task, alignments: NDArray[Any]) -> NDArray[np.float32]:
    """How far each example's alignment is above the mean of its label.

    A sentence has several labels, its tags: of these means the mean is taken. Examples whose labels
    are numbers are beside all of the source.

    Args:
        task: Whose training examples they are.
        alignments: One for each; NaN where none was measured.

    Returns:
        In standard deviations of the source's examples around these means; NaN where none was
        measured.
    """
    found = task.train.all_names()
    known = ~np.isnan(alignments)
    if found is None:
        apart = alignments - (alignments[known].mean() if known.any() else 0.0)
    else:
        labels, times = found
        means = _measured(labels, times, alignments).means
        apart = alignments - _over_examples(means[labels.numbers], times)
    spread = float(apart[known].std()) if known.any() else 0.0
    # Noise of rounding is no deviation: all examples of a group of equal labels agree alike.
    negligible = 1e-6 * float(np.abs(alignments[known]).max(initial=0.0))
    return np.float32(0 if spread <= negligible else 1 / spread) * apart.astype(np.float32)


def by_label(
    task: Task, weights: NDArray[Any], alignments: NDArray[Any], *, are_examples: bool
) -> list[LabelAgreement]:
    """Every label that examples have, the commonest first; nothing where labels are numbers.

    Args:
        task: Whose training examples they are.
        weights: What each counts beside the average one.
        alignments: One for each; NaN where none was measured.
        are_examples: Whether each was measured by itself; else there is no error to know.
    """
    found = task.train.all_names()
    if found is None:
        return []
    labels, times = found
    counts = np.bincount(labels.numbers, minlength=len(labels.names))
    sums = np.bincount(labels.numbers, np.repeat(weights, times), minlength=len(counts))
    measured = _measured(labels, times, alignments)
    others = measured.of_others(alignments)
    less = measured.clearly_below(others, alignments) & are_examples
    order = sorted(np.flatnonzero(counts), key=lambda n: (-counts[n], labels.names[n]))
    return [
        LabelAgreement(
            label=labels.names[number],
            examples=int(counts[number]),
            weight=float(sums[number] / counts[number]),
            alignment=_known(measured.means[number]),
            error=_known(measured.errors[number]) if are_examples else None,
            others=_known(others[number]),
            agrees_less=bool(less[number]),
        )
        for number in order
    ]


def in_words(row: Mapping[str, Any]) -> str:
    """What is said of a label that agrees less as a whole.

    Args:
        row: A `LabelAgreement` as JSON has it, with its source.

    Example:
        >>> row = {"source": "web", "label": "bad", "examples": 50, "alignment": -0.25}
        >>> in_words({**row, "error": 0.012, "others": 0.1})
        "web: the 50 examples labelled 'bad' agree less with the target as a whole: mean alignment \
-0.25 (standard error 0.012), that of the others 0.1."
    """
    return (
        f"{row['source']}: the {row['examples']} examples labelled {row['label']!r} agree less "
        f"with the target as a whole: mean alignment {row['alignment']:.2g} (standard error "
        f"{row['error']:.2g}), that of the others {row['others']:.2g}."
    )


@dataclass(frozen=True)
class _Measured:
    """Alignments of the examples that have each label; NaN where none was measured."""

    counts: NDArray[Any]
    means: NDArray[Any]
    errors: NDArray[Any]
    """Of the means; NaN for fewer than two."""

    def of_others(self, alignments: NDArray[Any]) -> NDArray[Any]:
        """Mean of the examples without the label."""
        known = alignments[~np.isnan(alignments)]
        left = np.where(len(known) > self.counts, len(known) - self.counts, np.nan)
        found: NDArray[Any] = (known.sum() - self.counts * np.nan_to_num(self.means)) / left
        return found

    def clearly_below(self, others: NDArray[Any], alignments: NDArray[Any]) -> NDArray[np.bool_]:
        """Which labels agree less than the others do: by more than chance, and so that it tells."""
        known = alignments[~np.isnan(alignments)]
        spread = float(known.std()) if len(known) else 0.0
        of_others = spread / np.sqrt(np.maximum(1, len(known) - self.counts))
        limit = np.maximum(_ERRORS * np.hypot(self.errors, of_others), _DEVIATIONS * spread)
        below: NDArray[np.bool_] = (others - self.means > limit) & (spread > 0)  # NaN is not
        return below


def _measured(labels: Coded, times: NDArray[np.int32] | int, values: NDArray[Any]) -> _Measured:
    each = np.repeat(values, times)
    known = ~np.isnan(each)
    numbers, each = labels.numbers[known], each[known]
    size = len(labels.names)
    counts = np.bincount(numbers, minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(numbers, each, minlength=size) / counts
        squares = np.bincount(numbers, (each - means[numbers]) ** 2, minlength=size)
        errors = np.where(counts > 1, np.sqrt(squares / (counts - 1) / counts), np.nan)
    return _Measured(counts, means, errors)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _over_examples(values: NDArray[Any], times: NDArray[np.int32] | int) -> NDArray[Any]:
    """Mean over the labels of each example."""
    if isinstance(times, int):
        return values
    starts = np.cumsum(times) - times
    sums: NDArray[Any] = np.add.reduceat(np.append(values, 0.0), starts)
    return np.where(times > 0, sums / np.maximum(1, times), np.nan)
