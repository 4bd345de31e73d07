"""One training of the benchmark, in plain values."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Method = Literal[
    "target alone",
    "domain, then target",
    "domain beside target",
    "equal weights, then target",
    "learned weights, then target",
    "weights by evidence, then target",
]
"""What comes before the passes over the target: nothing; text of its domain; that and the target
together; or text of three domains, mixed with equal weights, with weights that an earlier rule
learned, or with those of the preset `robust`."""
METHODS: tuple[Method, ...] = get_args(Method)
RULE: dict[str, Any] = {
    "step": "mirror",
    "scale": 1.0,
    "anchor": 0.0,
    "ratio_bound": 10.0,
    "own_alignment": "held-out",
}
"""How weights of the earlier rule move, but for the step size: the default of that time."""
UPDATES: dict[str, Any] = {
    "update_every": 25,
    "update_growth": 0.0,
    "gradient_examples": 64,
    "target_examples": 64,
    "target_from": "all",
    "measure_through": "trained heads",
}
"""When they move, and from what: of the same time."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What to train."""

    target: str
    method: Method
    seed: int
    examples: int | None
    """Labelled ones; all, if none is said."""
    own_text: bool
    """Whether the texts of the target's own training examples are among those of its domain."""
    encoder: str
    """Its name, which is that of its folder."""
    text_steps: int
    """Before the passes over the target."""
    text_rate: float
    """Learning rate of those."""
    epochs: int
    """Passes over the target."""
    rate: float
    """Learning rate of those."""
    batch_size: int
    max_length: int
    step_size: float
    """Of the weights."""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @property
    def key(self) -> str:
        """Tells it from others."""
        return json.dumps(self.to_json(), sort_keys=True)
