"""The history of how weights came about, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any

from tawt.errors import WeightsError, is_number, is_whole

_SUMMARY = "units"  # what the summary of an update is called in a file
_OLD_PART = "target_part"  # of an earlier version, to no effect: its parts were not halves


@dataclass(frozen=True)
class WeightUpdate:
    """One line of the history: what was measured and where the weights went.

    A skipped update has `skipped` set to its reason, and the weights of the update before.
    """

    step: int
    weights: dict[str, float]
    """Shares after the update."""
    log_weights: dict[str, float | None]
    """Their logarithms, which tell tiny weights apart where the shares are rounded to zero."""
    alignments: dict[str, float | None] = field(default_factory=dict)
    """What moved the weights: of each unit its cosine, or inner product under the curvature, with
    the target; or its excess loss."""
    leads: dict[str, float | None] = field(default_factory=dict)
    """By how much the alignment of each source is above the mean of all sources, the mean of all
    updates so far; where weights go by it."""
    error: float | None = None
    """Standard error of these leads, once halves of the target's examples have shown it."""
    intervals: dict[str, list[float]] = field(default_factory=dict)
    """Where each weight would lie in nine of ten runs with other examples; at updates that complete
    a pair of halves, in long histories at every eighth of these."""
    norms: dict[str, float | None] = field(default_factory=dict)
    """Gradient norm of each unit."""
    target_norm: float | None = None
    target_loss: float | None = None
    """Loss of the target where it was measured; the mean of several by their shares."""
    skipped: str | None = None
    summary: dict[str, Any] | None = None
    """Of the weights on units finer than tasks, where there are any; the rest is about tasks."""
    losses: dict[str, float | None] = field(default_factory=dict)
    """Loss of each task that was measured, where the weighting keeps them."""
    target_half: int | None = None
    """Which half of the target's examples was measured, where updates take them in turn."""

    @property
    def failure(self) -> str | None:
        """Why it was skipped; one whose target had nothing left to learn has not failed."""
        return None if self.target_norm == 0.0 else self.skipped

    def to_json(self) -> dict[str, Any]:
        """The update as plain JSON values; the summary is called `units` there, if there is one.

        What is not kept, or not known, is left out.
        """
        values = asdict(self)
        summary = values.pop("summary")
        for name in ("leads", "intervals", "losses"):
            if not values[name]:
                del values[name]
        for name in ("error", "target_loss", "target_half"):
            if values[name] is None:
                del values[name]
        return values if summary is None else {**values, _SUMMARY: summary}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> WeightUpdate:
        """Inverse of `to_json`.

        Raises:
            WeightsError: They are not the values of an update.
        """
        known = _VALUES.keys() | {_OLD_PART}
        if not isinstance(values, Mapping) or not {"step", "weights"} <= values.keys() <= known:
            raise WeightsError(
                "An update of the history must be what `WeightUpdate.to_json` returns; got "
                f"{str(values)[:80]}."
            )
        values = {name: value for name, value in values.items() if name != _OLD_PART}
        for name, value in values.items():
            if not _VALUES[name](value):
                raise WeightsError(
                    f"`{name}` of an update of the history is not what `WeightUpdate.to_json` "
                    f"writes there; got {str(value)[:80]}."
                )
        given = deepcopy(dict(values))
        summary = given.pop(_SUMMARY, None)
        return cls(**given, summary=summary)


def _is_number_or_none(value: object) -> bool:
    return value is None or is_number(value)


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value))


def _are_numbers(values: object) -> bool:
    return isinstance(values, Mapping) and all(map(is_number, values.values()))


def _are_numbers_or_none(values: object) -> bool:
    return isinstance(values, Mapping) and all(map(_is_number_or_none, values.values()))


_VALUES: dict[str, Callable[[Any], bool]] = {
    "step": is_whole,
    "weights": _are_numbers,
    "log_weights": _are_numbers_or_none,
    "alignments": _are_numbers_or_none,
    "norms": _are_numbers_or_none,
    "target_norm": _is_number_or_none,
    "target_loss": _is_number_or_none,
    "error": _is_number_or_none,
    "leads": _are_numbers_or_none,
    "intervals": lambda value: isinstance(value, Mapping) and all(map(_is_pair, value.values())),
    "losses": _are_numbers_or_none,
    "target_half": lambda value: value is None or is_whole(value),
    "skipped": lambda value: value is None or isinstance(value, str),
    _SUMMARY: lambda value: value is None or isinstance(value, Mapping),
}
"""Whether a value can be that of an update's field, as it is called in JSON."""
