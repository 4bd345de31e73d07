"""One training of the benchmark, in plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

Kind = Literal[
    "fixed", "by size", "tempered", "target-aware", "doge", "bandit", "excess-loss", "dsir"
]


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What to train: a mixture, or a method that finds one."""

    name: str
    """Of the row."""
    kind: Kind
    target: str | None = None
    """Whom the mixture is for; none where it is for all alike."""
    sources: tuple[str, ...] = ()
    """All by default."""
    budget: int = 300
    """Steps that could be taken if nothing were spent on measuring."""
    seed: int = 0
    then_target: int = 0
    """Passes over the target's own text afterwards."""
    with_target: bool = False
    """Whether the target's text is one more source."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Of the training, beside those that all have."""
    rule: dict[str, Any] = field(default_factory=dict)
    """Of the update."""
    setup: str = "small"
    """What is trained."""
    weights: dict[str, float] = field(default_factory=dict)
    """Weights that are given."""

    def of(self, **changes: Any) -> Spec:
        """The same with some changes."""
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)
