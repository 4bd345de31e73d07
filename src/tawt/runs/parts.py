"""What a run is made of, from its configuration, in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tawt.errors import ConfigError, DataError
from tawt.runs import building
from tawt.training.roles import checked_roles

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.tasks import MultiTaskModel, Task
    from tawt.training import Paradigm
    from tawt.weighting import Weighting


class Parts(NamedTuple):
    """What a run is made of."""

    tasks: list[Task]
    model: MultiTaskModel
    weighting: Weighting | None
    paradigm: Paradigm
    data: dict[str, Any]
    """Size and fingerprint of every task's examples."""


def build_parts(config: RunConfig, *, shared: Path | None = None) -> Parts:
    """The parts of a run, if they fit together.

    Args:
        config: What to do.
        shared: A folder for what other runs need too.

    Raises:
        TawtError: Saying what does not.
    """
    tasks = building.tasks(config)
    model = building.model(config, tasks)
    weighting, paradigm = fitted(config, tasks, model, shared=shared)
    return Parts(tasks, model, weighting, paradigm, building.fingerprints(tasks))


def fitted(
    config: RunConfig,
    tasks: Sequence[Task],
    model: MultiTaskModel,
    *,
    shared: Path | None = None,
) -> tuple[Weighting | None, Paradigm]:
    """Weighting and paradigm, if they fit the tasks and the model.

    Args:
        config: What to do.
        tasks: Sources and targets.
        model: Before training.
        shared: A folder for what other runs need too.

    Raises:
        TawtError: Saying what does not.
    """
    weighting = building.weighting(config, tasks, model, shared=shared)
    paradigm = building.paradigm(config)
    _check_target(config, tasks)
    checked_roles(model, tasks, config.targets, paradigm.phases(), weighting)
    return weighting, paradigm


def _check_target(config: RunConfig, tasks: Sequence[Task]) -> None:
    for task in tasks:
        if task.name in config.targets and task.dev is None and task.test is None:
            raise DataError(
                f"The target {task.name!r} has neither dev nor test examples, so nothing could be "
                "measured; give it at least one of them."
            )
    chosen_by = [task for task in tasks if task.name in config.targets and task.dev is not None]
    if config.training.patience is not None and not chosen_by:
        raise ConfigError(
            "`training.patience` waits for a better dev score, but the target has no dev examples; "
            "give it some (text: `held_out`), or leave `patience` out.",
            place=("training", "patience"),
        )
