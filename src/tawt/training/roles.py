"""Who is source and who is target, checked before anything is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import ConfigError, DataError, suggestion
from tawt.weighting import Fixed, Weighting
from tawt.weights import SourceWeights

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tawt.tasks import MultiTaskModel, Task
    from tawt.training.paradigms import Phase


def checked_roles(
    model: MultiTaskModel,
    tasks: Sequence[Task],
    targets: Mapping[str, float],
    phases: Iterable[Phase],
    weighting: Weighting | None,
) -> Weighting:
    """The weighting to train with, if all the parts fit together.

    Raises:
        DataError: A task is missing, given twice, or has no head.
        ConfigError: The weighting weighs other tasks than the paradigm trains on, or other
            examples than the tasks have.
    """
    names = [task.name for task in tasks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"Tasks must have different names; {twice[0]!r} is given twice.")
    SourceWeights.of(targets)  # several targets must be a convex combination
    wanted = {phase.trains_on for phase in phases}
    if wanted == {"target"}:
        weighting = Fixed(list(targets), initial=targets)
    if weighting is None:
        raise ConfigError(
            "Training on sources needs a weighting; pass `weighting`, fixed or target-aware."
        )
    for name in [*targets, *weighting.weights.names]:
        if name not in names:
            raise DataError(f"There is no task called {name!r}; {suggestion(name, names)}")
        model.heads[name]
    _check_names(wanted, targets, weighting)
    _check_sizes(tasks, weighting)
    return weighting


def heads_learn(model: MultiTaskModel, targets: Iterable[str]) -> bool:
    """Whether a target has a head of its own to be trained, and does not share the model whole."""
    heads = (model.heads[name] for name in targets)
    return any(parameter.requires_grad for head in heads for parameter in head.parameters())


def _check_sizes(tasks: Sequence[Task], weighting: Weighting) -> None:
    """Units finer than tasks are of these tasks' examples, every one of them."""
    known = {task.name: len(task.train) for task in tasks}
    for source, size in weighting.weights.units.sizes.items():
        if size != known[source]:
            raise ConfigError(
                f"The weighting has units for {size} examples of {source!r}, which has "
                f"{known[source]} to train on; make the `Units` from the same examples."
            )


def _check_names(
    wanted: Collection[str], targets: Mapping[str, float], weighting: Weighting
) -> None:
    weighed = [name for name in targets if name in weighting.weights.names]
    if "sources" in wanted and weighed:
        raise ConfigError(
            f"Pre-training does not train on the target, but the weighting gives {weighed[0]!r} "
            "a weight. Leave it out, or use JointTraining."
        )
    if "sources and target" in wanted and len(weighed) < len(targets):
        missing = next(name for name in targets if name not in weighed)
        raise ConfigError(
            f"Joint training trains on the target too, but the weighting has no weight for "
            f"{missing!r}. Give fixed weights the target among their tasks, and target-aware ones "
            "a `target_share`."
        )
    if weighting.target and set(weighting.target) != set(targets):
        raise ConfigError(
            f"The weighting follows {', '.join(weighting.target)}, but the target is "
            f"{', '.join(targets)}. They must be the same."
        )
