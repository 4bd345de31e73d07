"""Why what was measured cannot move the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tawt.hypergradient import Hypergradient


def reason_to_skip(measured: Hypergradient, targets: Iterable[str], *, first: bool) -> str | None:
    """The reason, if there is one.

    Args:
        measured: What was found.
        targets: Whose gradient sources are compared with.
        first: Whether it is the first update.

    Raises:
        TrainingError: The targets' gradient is zero, already at the first update.
    """
    if not measured.is_finite:
        culprits = ", ".join(map(repr, measured.culprits)) or "the curvature's solve"
        return f"a loss or gradient is not finite: {culprits}"
    if measured.target_norm > 0:
        return None
    names = ", ".join(map(repr, targets))
    if first:
        raise TrainingError(
            f"The loss of the target {names} has a gradient of zero with respect to the "
            "representation, so nothing can be compared with it. Is the loss constant, or the "
            "target's head zero? Train for some steps before the first update, on examples "
            "that are not fitted yet."
        )
    return f"the gradient of the target {names} is zero, so nothing agrees with it"
