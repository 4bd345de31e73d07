"""One training of the benchmark, in plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What to train."""

    regime: str
    target: str
    examples: int
    """Labelled ones of the target."""
    method: str
    seed: int
    source: str | None = None
    """The only one, where a single source is tried."""
    encoder: str | None = None
    """What it is called, where the regime is of text."""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)
