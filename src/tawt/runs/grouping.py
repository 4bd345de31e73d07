"""How a source's examples are grouped, for weights on groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tawt.errors import ConfigError
from tawt.units import Coded, Units

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.config.weighting import GroupConfig
    from tawt.tasks import MultiTaskModel, Task

_PLACE = ("weighting", "group", "by")


def grouped(
    sources: Sequence[Task],
    settings: GroupConfig,
    model: MultiTaskModel,
    *,
    seed: int,
    shared: Path | None = None,
    wanted: str = "",
) -> Units:
    """The units of these sources.

    Args:
        sources: Whose training examples are grouped.
        settings: By what.
        model: Whose representation clusters are of, where the data has none of its own.
        seed: Of the clusters.
        shared: A folder where clusters are kept for other runs.
        wanted: What data is to be given that does not say which group each example is in.

    Raises:
        ConfigError: A source cannot be grouped so.
    """
    found: dict[str, Coded] = {}
    for task in sources:
        if settings.by == "label":
            found[task.name] = _by_label(task)
        elif settings.by == "length":
            found[task.name] = _by_length(task, settings.count)
        elif settings.by == "column":
            found[task.name] = _by_column(task, wanted)
        else:
            from tawt.runs.clustering import clustered

            found[task.name] = clustered(task, settings.count, model, seed=seed, shared=shared)
    return Units.of_groups(found)


def _by_label(task: Task) -> Coded:
    found = task.train.names()
    if found is None:
        raise ConfigError(
            f"The labels of {task.name!r} are no names, so they make no groups; group it by "
            "column, length or cluster.",
            place=_PLACE,
        )
    return found


def _by_length(task: Task, count: int) -> Coded:
    """Equally many examples to a group, from short to long."""
    lengths = task.train.lengths
    if lengths is None:
        raise ConfigError(f"The examples of {task.name!r} are all of one length.", place=_PLACE)
    edges = np.unique(np.quantile(lengths, np.linspace(0, 1, count + 1)[1:-1]))
    numbers = np.searchsorted(edges, lengths, side="left").astype(np.int32)
    ends = [*edges.astype(int).tolist(), int(lengths.max())]
    digits = len(str(ends[-1]))
    return Coded(tuple(f"up to {end:>{digits}} pieces" for end in ends), numbers)


def _by_column(task: Task, wanted: str) -> Coded:
    given = task.train.groups()
    if given is None or (isinstance(given, list) and None in given):
        remedy = f"give it {wanted}" if wanted else "group it by something else"
        raise ConfigError(
            f"The data of {task.name!r} does not say which group each example is in; {remedy}.",
            place=_PLACE,
        )
    return given if isinstance(given, Coded) else Coded.of(given)
