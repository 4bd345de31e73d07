"""Whether the processes that update weights together hold the same weighting."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from tawt.errors import WeightsError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import torch

    from tawt.ranks import Ranks
    from tawt.weighting.held_target import HeldTarget
    from tawt.weighting.target_aware import TargetAware

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # of an object without a text of its own


def check_alike(ranks: Ranks, about: Mapping[str, object]) -> None:
    """Refuse to update together what is not the same in all processes; or if one has failed.

    Args:
        ranks: The processes.
        about: What must be the same, by what it is called in an error.

    Raises:
        WeightsError: In all of them, with one line that says what differs.

    Example:
        >>> from tawt.ranks import Ranks
        >>> check_alike(Ranks.of(None), {"the sources": ["pos"]})
    """
    own = [float(ranks.failure is not None), *(_number(part) for part in about.values())]
    table = ranks.table(own)
    ranks.raise_failures((table[:, 0] > 0).tolist())
    for place, name in enumerate(about, start=1):
        others = (table[:, place] != table[0, place]).nonzero().flatten().tolist()
        if others:
            where = ", ".join(map(str, others[:8])) + (" …" if len(others) > 8 else "")
            raise WeightsError(
                f"{name} differ between process 0 and {where} of {ranks.size}, which update their "
                "weights together. Build the weighting alike in all of them, load the same "
                "checkpoint, and call `update` equally often."
            )


def fingerprint_of(
    weighting: TargetAware | HeldTarget, parameters: Sequence[torch.Tensor], *, way: str
) -> dict[str, object]:
    """What must not differ about a weighting and what it measures by, by its name.

    Args:
        weighting: As it is now.
        parameters: Of the representation.
        way: How it is about to measure.
    """
    weights = weighting.weights
    shapes = [(tuple(parameter.shape), str(parameter.dtype)) for parameter in parameters]
    return {
        "The ways to measure": way,
        "The tasks": list(weights.names),
        "The targets": weighting.target,
        "The target's shares": weighting.target_share,
        "The update rules": weighting.rule,
        "The units": weights.units.fingerprint(),
        "The numbers of updates": weighting.history.updates,
        "The weights": weights.logs.numpy().tobytes(),
        "The parameters of the representation": shapes,
    }


def _number(part: object) -> float:
    """A digest that a float64 holds exactly."""
    known = part if isinstance(part, bytes) else _ADDRESS.sub("", repr(part)).encode()
    return float(int.from_bytes(hashlib.sha256(known).digest()[:6], "big"))
