"""What an experiment came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tawt.report import Figure


@dataclass(frozen=True, kw_only=True)
class Result:
    """A table as text, the numbers behind it, and plots."""

    experiment: str
    title: str
    said: list[str]
    """What came out, in sentences."""
    headings: list[str]
    rows: list[list[str]]
    caption: str
    """What the numbers are, and every departure from the paper."""
    data: dict[str, Any]
    """All of it as JSON."""
    figures: list[Figure] = field(default_factory=list)
