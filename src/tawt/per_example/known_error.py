"""How far products are off: found on a few examples, told in the log, and kept."""

from __future__ import annotations

import logging
import math

_log = logging.getLogger(__name__)


class KnownError:
    """The relative error of products, by their norm, over all tasks.

    It is an estimate from the first batch of each. Twice what is found there is kept, since few
    examples do not show all; the largest products of a batch decide it, and examples with small
    ones can be off by more of their own.

    Args:
        doubtful: Above this there is a warning.
        advice: What that says.

    Example:
        >>> error = KnownError(doubtful=0.1, advice="Take another way.")
        >>> for found in (0.01, 0.02, 0.01):
        ...     error.add(found, how="by guessing")
        >>> error.largest
        0.04
    """

    def __init__(self, *, doubtful: float, advice: str) -> None:
        self._doubtful = doubtful
        self._advice = advice
        self.largest: float | None = None
        """Of any task; None as long as no batch has shown one."""

    def add(self, found: float, *, how: str) -> None:
        """What another task's first batch has shown.

        Args:
            found: By the norm of the batch's products.
            how: They were computed.
        """
        error = 2 * found if math.isfinite(found) else math.inf
        self.largest = max(error, self.largest or 0.0)
        said = f"Products {how}, relative error about {error:.1e}"
        if error <= self._doubtful:
            _log.info("%s.", said)
        else:
            _log.warning("%s; they are hardly to be trusted. %s", said, self._advice)
