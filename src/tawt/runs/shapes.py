"""What the JSON files of a run's folder must look like."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tawt.files.shapes import Count, Number, Shape, Shares
from tawt.tasks.measure import PERCENT

_Interval = Annotated[list[Number], Field(min_length=2, max_length=2)]


class _Epoch(Shape):
    step: int = 0
    effective_sample_size: Number | None = None
    phase: str = ""
    loss: Number | None = None
    dev: dict[str, Shares] = Field(default_factory=dict)


class _Measure(Shape):
    lower_is_better: bool = False
    unit: str = PERCENT


class _Finding(Shape):
    lead: Number
    error: Number | None
    probability: Annotated[float, Field(ge=0, le=1)]
    verdict: Literal["helps", "hurts", "cannot tell"]
    weight_interval: _Interval | None = None


class _LabelScore(Shape):
    precision: Number
    recall: Number
    f1: Number
    support: Count


class _Unseen(Shape):
    seen: list[Count]
    of: Count
    scores: Shares


class Record(Shape):
    """`record.json`."""

    name: str
    scores: dict[str, dict[str, Shares]]
    labels: dict[str, dict[str, dict[str, _LabelScore]]] = Field(default_factory=dict)
    unseen: dict[str, _Unseen] = Field(default_factory=dict)
    weights: dict[str, Number]
    multipliers: Shares
    passes: Shares = Field(default_factory=dict)
    findings: dict[str, _Finding] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list)
    target: str | list[str] | dict[str, Number] = ""
    metric: dict[str, str] = Field(default_factory=dict)
    measure: dict[str, _Measure] = Field(default_factory=dict)
    epochs: list[_Epoch]
    best_epoch: int | None = None
    skipped_steps: dict[str, Count]
    skipped_updates: Count


class _Spread(Shape):
    """Of an update: what single units came to."""

    entropy: Annotated[float, Field(le=700)]  # e to that power is a number
    quantiles: dict[str, Number]
    way: str | None = None
    relative_error: Number | None = None


class Update(Shape):
    """A line of `weights.jsonl`."""

    step: int
    weights: Shares
    alignments: Shares
    leads: Shares = Field(default_factory=dict)
    error: Number | None = None
    intervals: dict[str, _Interval] = Field(default_factory=dict)
    units: _Spread | None = None


class _Example(Shape):
    source: str
    example: int
    weight: Number
    alignment: Number | None
    deviation: Number | None = None
    label: Any
    text: str
    image: str = ""


class _Label(Shape):
    label: str
    examples: int
    weight: Number
    alignment: Number | None = None
    error: Number | None = None


class _Less(_Label):
    source: str
    alignment: Number
    error: Number
    others: Number


class _Group(Shape):
    group: str
    examples: int
    weight: Number
    alignment: Number | None


class ShownUnits(Shape):
    """`units.json`."""

    are_examples: bool
    least: list[_Example]
    most: list[_Example]
    labels: dict[str, list[_Label]]
    groups: dict[str, list[_Group]]
    agree_less: list[_Less] = Field([])
