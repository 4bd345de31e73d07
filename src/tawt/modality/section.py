"""A section of a configuration."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

MOST = 1_000_000_000
"""Of whatever is counted: no sensible number is beyond it, and what computes with one overflows."""


class Section(BaseModel):
    """A section: fields that it does not have are refused, and numbers that are none."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )


class DataSection(Section):
    """Where the examples of a kind of data come from."""

    kind: str
    """The name of the kind of data."""
