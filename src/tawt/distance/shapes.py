"""What the JSON file of distances must look like."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from tawt.files.shapes import Number, Shape, Shares


class _Mean(Shape):
    mean: Number
    interval: Annotated[list[Number | None], Field(min_length=2, max_length=2)] | None = None


class _Distance(Shape):
    clipped: _Mean
    zero_one: _Mean | None = None


class _Gain(_Mean):
    verdict: str
    recommendation: str


class _Rate(Shape):
    ratio: Number | None
    effective_size: Number


class _Terms(Shape):
    head: Number
    sources: Number
    mismatch: Number
    advice: str | None


class Distances(Shape):
    """`distance.json`."""

    target: str
    telling: str
    sources: list[str]
    mixtures: dict[str, Any]
    trained: dict[str, dict[str, _Distance]]
    estimates: dict[str, dict[str, Shares]]
    gains: dict[str, _Gain]
    metric: str | None
    rates: dict[str, _Rate]
    terms: _Terms | None
    correlations: Shares
    open_constants: Any
