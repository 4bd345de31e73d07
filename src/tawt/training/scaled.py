"""Which task's losses are scaled most when tasks are drawn by size: how a small one is drowned.

A task of n_t examples among N is seen in n_t / N of the steps, and counts ω_t: its losses are
scaled by ω_t N / n_t. With a scale of dozens, two steps an epoch carry most of the objective, and
no optimiser makes of them what it makes of many. Shortening such steps does not help: there are as
few as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

TOO_MUCH = 5.0
"""On scanned digits, from here on a task that is drawn by size learns a fraction of what it does
drawn by weight (docs/decisions/024)."""


class Scaled(NamedTuple):
    """A task, and how it is seen."""

    task: str
    share: float
    """Of the objective."""
    drawn: float
    """Of the examples, and so of the steps that are drawn by size."""

    @property
    def scale(self) -> float:
        """What its losses are multiplied by in these steps."""
        return self.share / self.drawn

    @property
    def too_much(self) -> bool:
        """Whether training is about to fail by it."""
        return self.scale > TOO_MUCH


def most_scaled(sizes: Mapping[str, int], shares: Mapping[str, float]) -> Scaled:
    """The task that counts most beside what is seen of it.

    Args:
        sizes: Examples of each task.
        shares: ω_t.

    Example:
        >>> found = most_scaled({"few": 100, "many": 9900}, {"few": 0.3, "many": 0.7})
        >>> found.task, round(found.scale), found.too_much
        ('few', 30, True)
        >>> most_scaled({"few": 100, "many": 9900}, {"few": 0.01, "many": 0.99}).scale
        1.0
    """
    examples = sum(sizes.values())
    found = (Scaled(task, shares[task], size / examples) for task, size in sizes.items())
    return max(found, key=lambda each: each.scale)
