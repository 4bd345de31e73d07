"""Sizes that the data must have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tawt.reproduce.tagging import Setup, TaggingRun


def too_small(setup: Setup, runs: Iterable[TaggingRun]) -> dict[str, int]:
    """The most sentences wanted of each task that has fewer."""
    found: dict[str, int] = {}
    for run in runs:
        for task, size in run.sizes:
            if size > setup.available[task]:
                found[task] = max(size, found.get(task, 0))
    return found


def check_sizes(experiment: str, setup: Setup, runs: Iterable[TaggingRun]) -> None:
    """Refuse what the data cannot give, unless sizes may be capped.

    Raises:
        ConfigError: With what is wanted and the largest possible, or the task that is missing.
    """
    runs = list(runs)
    for run in runs:
        for task, _ in run.sizes:
            if task not in setup.available:
                raise ConfigError(
                    f"{experiment} needs the task {task!r}, which the layout lacks.",
                    place=("data", "tasks"),
                )
    missing = too_small(setup, runs)
    if missing and not setup.cap:
        wanted = ", ".join(
            f"{size} sentences of {task} (the largest possible is {setup.available[task]})"
            for task, size in missing.items()
        )
        raise ConfigError(
            f"{experiment} wants {wanted}. Use --cap to take the largest possible; the table will "
            "say so."
        )
