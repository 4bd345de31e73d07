"""One search of the benchmark, in plain values."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What is searched."""

    target: str
    seed: int
    examples: int | None
    """Of the target's training part, drawn by the seed; none for all of it, and its dev part."""
    encoder: str
    """Its name, which is that of its folder."""
    budget: str
    cap: int
    """Examples of a source, at most."""
    epochs: int
    """Passes over the sources."""
    batch_size: int
    max_length: int
    rate: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @property
    def key(self) -> str:
        """Tells it from others."""
        return json.dumps(self.to_json(), sort_keys=True)

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return f"{self.target}-{self.examples or 'all'}-{self.seed}"
