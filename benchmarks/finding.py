"""What a benchmark found: one number, its goal, and everything it was made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Numbers = dict[str, Any]
"""What a finding was computed from, by name; plain values, for JSON."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the report.

    Example:
        >>> Finding(benchmark="memory", what="copies", value=2.0, unit="x", goal=2.0).verdict
        'met'
    """

    benchmark: str
    what: str
    value: float
    unit: Literal["%", "x", "s", "ms", "copies", "GiB", "thousand/s", "points"]
    goal: float | None = None
    """What it must reach; none where the number is only for information."""
    direction: Literal["at most", "at least"] = "at most"
    spread: tuple[float, float] | None = None
    """Lowest and highest over the repeats, where each repeat gives a value of its own."""
    note: str = ""
    numbers: Numbers = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Whether the goal is met."""
        if self.goal is None:
            return ""
        within = self.value <= self.goal if self.direction == "at most" else self.value >= self.goal
        return "met" if within else "MISSED"

    @property
    def goal_text(self) -> str:
        """The goal in words."""
        return "" if self.goal is None else f"{self.direction} {self._plain(self.goal)}"

    @property
    def value_text(self) -> str:
        """The value with its unit."""
        return self._plain(self.value)

    @property
    def spread_text(self) -> str:
        """The range over the repeats."""
        return "" if self.spread is None else " to ".join(self._plain(end) for end in self.spread)

    def to_json(self) -> dict[str, Any]:
        """Every number, and the verdict."""
        return {
            "benchmark": self.benchmark,
            "what": self.what,
            "value": self.value,
            "unit": self.unit,
            "goal": self.goal,
            "direction": self.direction if self.goal is not None else None,
            "verdict": self.verdict or None,
            "spread": list(self.spread) if self.spread else None,
            "note": self.note,
            "numbers": self.numbers,
        }

    def _plain(self, value: float) -> str:
        digits = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
        return f"{digits}{'' if self.unit in ('%', 'x') else ' '}{self.unit}"
