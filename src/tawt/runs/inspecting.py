"""What is in the data of a run, before anything is trained on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.modality.inspecting import facts_of
from tawt.runs import building

if TYPE_CHECKING:
    from tawt.config.schema import RunConfig
    from tawt.modality.facts import DataFacts


def inspect_config(config: RunConfig) -> DataFacts:
    """What is in the tasks that a run would use.

    Args:
        config: Of the run.

    Raises:
        TawtError: If a task cannot be read.
    """
    names = building.used_names(config)
    tasks, known = config.modality.inspect(
        config.data,
        config.model,
        names=[*config.targets, *(name for name in names if name not in config.targets)],
        targets=list(config.targets),
        seed=config.seed,
    )
    return facts_of(tasks, *known)
