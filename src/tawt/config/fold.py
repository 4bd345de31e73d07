"""The section of a configuration that says which of the target's examples are held out."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from tawt.errors import ConfigError
from tawt.modality import Section

MOST_PARTS = 1000
Whose = Literal["target", "sources"]


class FoldConfig(Section):
    """The target's training and dev examples, cut into parts for cross-fitting.

    The cut depends on the seed of the run and on nothing else, so that runs of several
    configurations hold out the same examples.
    """

    part: int | None = Field(None, ge=1, le=MOST_PARTS)
    """Which part is held out to be scored on, from 1. By default none is: the run trains on all of
    them, and is scored on the target's test examples."""
    of: int = Field(4, ge=2, le=MOST_PARTS)
    """How many parts there are."""
    halved: Whose | None = None
    """Whose training examples are halved, at random: to see what more of them are worth."""

    @model_validator(mode="after")
    def _check_part(self) -> FoldConfig:
        if self.part is not None and self.part > self.of:
            raise ConfigError(
                f"`fold.part` must be at most `fold.of` ({self.of}); got {self.part}.",
                place=("part",),
            )
        return self
