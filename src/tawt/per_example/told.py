"""An error that is known is told, once a task."""

from __future__ import annotations

import logging

_log = logging.getLogger(__name__)

_DOUBTFUL = 2e-2  # of the products' norm: a warning above


def tell(how: str, error: float, *, advice: str) -> None:
    """Log how far products may be off.

    Args:
        how: They were computed.
        error: Relative to their norm.
        advice: If that is much.
    """
    said = f"Products {how}, relative error about {error:.1e}"
    if error <= _DOUBTFUL:
        _log.info("%s.", said)
    else:
        _log.warning("%s; they are hardly to be trusted. %s", said, advice)
