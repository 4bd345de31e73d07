"""How often the examples of each task are trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.training.settings import Settings


def check_passes(sizes: Mapping[str, int], settings: Settings, *, batch_size: int) -> None:
    """Refuse more steps than the examples are enough for.

    Args:
        sizes: Number of examples of each task.
        settings: Say how many steps there are, and how often a task may be passed over.
        batch_size: Examples in a step.

    Raises:
        ConfigError: All tasks would have had their passes before the steps are done.

    Example:
        >>> from tawt.training.settings import Settings
        >>> settings = Settings(sampling="weight", steps=10, most_passes=2)
        >>> check_passes({"web": 40, "news": 40}, settings, batch_size=16)
        >>> check_passes({"web": 20, "news": 40}, settings, batch_size=16)
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: `steps` (10) of 16 examples need 160, but `most_passes` (2) over \
all sources give 120; lower `steps` or raise `most_passes`.
    """
    if settings.most_passes is None or settings.steps is None:
        return
    wanted, there = settings.steps * batch_size, settings.most_passes * sum(sizes.values())
    if wanted > there:
        raise ConfigError(
            f"`steps` ({settings.steps}) of {batch_size} examples need {wanted}, but `most_passes` "
            f"({settings.most_passes:g}) over all sources give {there:g}; lower `steps` or raise "
            "`most_passes`.",
            place=("training", "most_passes"),
        )
