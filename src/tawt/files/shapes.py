"""What the JSON files of a run's folder must look like, so that whoever reads them can rely on it.

Only what is read is asked for: files of earlier versions have less, and those of later ones more.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tawt.errors import RunError

if TYPE_CHECKING:
    from pathlib import Path

Number = Annotated[float, Field(ge=-1e100, le=1e100)]
"""What can be squared, and shown in percent."""
Shares = dict[str, Number | None]
_Count = Annotated[int, Field(ge=0)]


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Epoch(_Shape):
    step: int = 0
    effective_sample_size: Number | None = None


class Record(_Shape):
    """`record.json`."""

    name: str
    scores: dict[str, dict[str, Shares]]
    weights: dict[str, Number]
    multipliers: Shares
    epochs: list[_Epoch]
    skipped_steps: dict[str, _Count]
    skipped_updates: _Count


class _Spread(_Shape):
    """Of an update: what single units came to."""

    entropy: Annotated[float, Field(le=700)]  # e to that power is a number
    quantiles: dict[str, Number]
    way: str | None = None
    relative_error: Number | None = None


class Update(_Shape):
    """A line of `weights.jsonl`."""

    step: int
    weights: Shares
    alignments: Shares
    units: _Spread | None = None


class _Example(_Shape):
    source: str
    example: int
    weight: Number
    alignment: Number | None
    deviation: Number | None = None
    label: Any
    text: str
    image: str = ""


class _Label(_Shape):
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


class _Group(_Shape):
    group: str
    examples: int
    weight: Number
    alignment: Number | None


class Shown(_Shape):
    """`units.json`."""

    are_examples: bool
    least: list[_Example]
    most: list[_Example]
    labels: dict[str, list[_Label]]
    groups: dict[str, list[_Group]]
    agree_less: list[_Less] = []


class _Row(_Shape):
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
    interval: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    p_seeds: Number | None = None
    learns: bool = False


class Table(_Shape):
    """`comparison.json`."""

    target: str
    metric: str
    seeds: Annotated[list[int], Field(min_length=1)]
    rows: list[_Row]
    circumstances: dict[str, Any]
    seconds: Number


class _Mean(_Shape):
    mean: Number
    interval: Annotated[list[Number | None], Field(min_length=2, max_length=2)] | None = None


class _Distance(_Shape):
    clipped: _Mean
    zero_one: _Mean | None = None


class _Gain(_Mean):
    verdict: str
    recommendation: str


class _Rate(_Shape):
    ratio: Number | None
    effective_size: Number


class _Terms(_Shape):
    head: Number
    sources: Number
    mismatch: Number
    advice: str | None


class Distances(_Shape):
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


def check(value: Any, shape: type[BaseModel], path: Path) -> None:
    """Refuse what a file cannot have from us.

    Args:
        value: As JSON has it.
        shape: A class of this module.
        path: The file.

    Raises:
        RunError: Saying where the value is not as it must be.
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        shape.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        said = first["msg"][:1].lower() + first["msg"][1:]
        raise RunError(f"{path} is damaged: {place + ': ' if place else ''}{said}.") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is damaged: {error}.") from error
