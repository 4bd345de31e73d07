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
    from tawt.weights import SourceWeights

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
    weights: SourceWeights, *, updates: int, parameters: Sequence[torch.Tensor]
) -> dict[str, object]:
    """What changes from update to update and must not differ, by its name.

    Args:
        weights: Of now.
        updates: How many there were.
        parameters: Of the representation.
    """
    shapes = [(tuple(parameter.shape), str(parameter.dtype)) for parameter in parameters]
    return {
        "The numbers of updates": updates,
        "The weights": weights.logs.numpy().tobytes(),
        "The parameters of the representation": shapes,
    }


def _number(part: object) -> float:
    """A digest that a float64 holds exactly."""
    known = part if isinstance(part, bytes) else _ADDRESS.sub("", repr(part)).encode()
    return float(int.from_bytes(hashlib.sha256(known).digest()[:6], "big"))
