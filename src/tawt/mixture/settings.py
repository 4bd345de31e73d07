"""Settings that the mixture and the sampler have in common."""

from __future__ import annotations

from typing import Literal

from tawt.errors import ConfigError, is_whole

Batches = Literal["one task", "mixed"]
"""What a batch is of: one task that was drawn for it, or examples whose tasks were drawn."""


def check_settings(
    *, batch_size: int | None, steps: int | None, batches: str, seed: object, hold: int
) -> None:
    """Refuse settings that no mixture can have.

    Args:
        batch_size: Examples of one process in a step, if it is given.
        steps: Of one loop, if it is given.
        batches: What a batch is of.
        seed: Of the mixture.
        hold: How many steps in a row keep their task.
    """
    if batch_size is not None:
        check_count(batch_size, what="batch_size")
    if steps is not None:
        check_count(steps, what="steps")
    if batches not in ("one task", "mixed"):
        raise ConfigError(f'`batches` must be "one task" or "mixed"; got {batches!r}.')
    check_count(hold, what="hold")
    if hold != 1 and batches == "mixed":
        raise ConfigError(
            f"`hold` keeps the task of a step, and in mixed batches each example has its own; got "
            f'hold={hold} and batches="mixed". Leave one of them out.'
        )
    if not is_whole(seed):
        raise ConfigError(f"`seed` must be a whole number; got {seed!r}.")


def check_count(value: object, *, what: str) -> None:
    """Refuse what is no number of things.

    Example:
        >>> check_count(0, what="batch_size")
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: `batch_size` must be a whole number of at least 1; got 0.
    """
    if not (is_whole(value) and value >= 1):
        raise ConfigError(f"`{what}` must be a whole number of at least 1; got {value!r}.")
