"""What the table of a comparison must look like."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from tawt.files.shapes import Count, Number, Shape

_Interval = Annotated[list[Number], Field(min_length=2, max_length=2)]


class _Row(Shape):
    name: str
    scores: list[Number]
    mean: Number
    spread: Number
    weights: dict[str, Number]
    against: str | None = None
    difference: Number | None = None
    wins: int | None = None
    p_value: Number | None = None
    p_bootstrap: Number | None = None
    interval: _Interval | None = None
    p_seeds: Number | None = None
    learns: bool = False
    findings: dict[str, dict[str, Count]] = Field(default_factory=dict)
    warnings: dict[str, Count] = Field(default_factory=dict)
    passes: Number | None = None


class _Rival(Shape):
    name: str
    difference: Number
    p_value: Number
    p_bootstrap: Number
    interval: _Interval
    p_seeds: Number | None = None


class _Best(Shape):
    name: str
    rivals: list[_Rival]


class ComparisonTable(Shape):
    """`comparison.json`."""

    target: str
    metric: str
    seeds: Annotated[list[int], Field(min_length=1)]
    rows: list[_Row]
    circumstances: dict[str, Any]
    seconds: Number
    left_out: dict[str, str] = Field({})
    best: _Best | None = None
