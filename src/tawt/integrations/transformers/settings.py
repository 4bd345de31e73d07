"""How a trainer draws and measures, beside its own arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tawt.errors import ConfigError, is_whole

if TYPE_CHECKING:
    from torch import nn

Measure = Literal["fresh batches", "training steps"]
"""What alignments are taken from."""


@dataclass(frozen=True)
class WeightedSettings:
    """What `Weighted` takes beside datasets and weights; see there.

    Example:
        >>> WeightedSettings(update_every=0)
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: `update_every` must be a whole number of at least 1; got 0.
    """

    update_every: int = 100
    update_batch_size: int | None = None
    representation: nn.Module | str | None = None
    floor: float = 0.0
    measure: Measure = "fresh batches"
    aim_every: int = 5

    def __post_init__(self) -> None:
        if self.measure not in ("fresh batches", "training steps"):
            raise ConfigError(
                f'`measure` must be "fresh batches" or "training steps"; got {self.measure!r}.'
            )
        for name in ("update_every", "update_batch_size", "aim_every"):
            value = getattr(self, name)
            if value is not None and not (is_whole(value) and value >= 1):
                raise ConfigError(f"`{name}` must be a whole number of at least 1; got {value!r}.")

    def shared(self) -> dict[str, Any]:
        """Those by which processes measure together, and so must have in common.

        Example:
            >>> WeightedSettings(update_every=50).shared()
            {'update_every': 50, 'measure': 'fresh batches', 'aim_every': 5}
        """
        names = ("update_every", "measure", "aim_every")
        return {name: getattr(self, name) for name in names}
