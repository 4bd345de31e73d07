"""What a best model is looked for with: a target with few examples, and sources that may help."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tawt.config.fold import FoldConfig
from tawt.errors import ConfigError, DataError
from tawt.runs import building
from tawt.runs.folds import pooled
from tawt.training.roles import heads_learn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.config.fold import Whose
    from tawt.config.schema import RunConfig
    from tawt.tasks import Measure, Task

FEWEST = 20
"""Examples below which nothing can be told from held-out ones."""
_PARTS = 4
_STEPS = 200  # of fine-tuning, where the configuration does not say how many passes
_PASSES = (4, 30)  # the fewest and the most that come of it


@dataclass(frozen=True, kw_only=True)
class BestStudy:
    """A target and sources that fit together."""

    config: RunConfig
    """What all candidates share, with the usual passes over the target."""
    target: str
    sources: tuple[str, ...]
    sharers: tuple[str, ...]
    """Sources that the target could share its head with."""
    examples: int
    """Of the target, to train on: what was given for that, and for choosing."""
    left_out: int
    """Dev examples that cannot be trained on."""
    parts: int
    """That the examples are cut into."""
    has_test: bool
    measure: Measure
    metric: str
    data: Mapping[str, Any]
    """Size and fingerprint of every task's examples."""
    model_bytes: int
    """Of one model that is kept."""
    source_steps: int
    """On all sources, in one run."""
    source_examples: Mapping[str, int]
    """To train on, of each source."""
    remarks: Sequence[str]
    """What makes scores doubtful."""

    def fold(self, part: int | None, *, halved: Whose | None = None) -> FoldConfig:
        """What a run holds out.

        Args:
            part: Which; none where it trains on all.
            halved: Whose training examples are halved.
        """
        return FoldConfig(part=part, of=self.parts, halved=halved)


def examined(config: RunConfig) -> BestStudy:
    """The study of a configuration, if there is something to choose; nothing is written.

    Args:
        config: As it was given.

    Raises:
        TawtError: Saying what stands in the way.
    """
    target = _checked_target(config)
    tasks, remarks = building.tasks_and_remarks(config)
    goal = next(task for task in tasks if task.name == target)
    sources = tuple(task.name for task in tasks if task.name != target)
    if not sources:
        raise ConfigError(
            "There is no source, so there is nothing to choose; name at least one, or use "
            "`tawt train` with `paradigm: single-task`.",
            place=("sources",),
        )
    pool = pooled(goal)
    count = len(pool.examples)
    if count < FEWEST:
        raise DataError(
            f"The target {target!r} has {count} labelled examples beside its test examples; with "
            f"fewer than {FEWEST} nothing can be told from held-out ones. Label more, or use "
            "`tawt train`."
        )
    model = building.model(config, tasks)
    if not heads_learn(model, [target]):
        raise ConfigError(
            "`tawt best` is for targets with labels; for a target that shares the model whole, "
            "such as a corpus, use `tawt mix`.",
            place=("target",),
        )
    return BestStudy(
        config=_with_usual_passes(config, examples=count),
        target=target,
        sources=sources,
        sharers=tuple(config.modality.sharers(config.data, tasks, target=target)),
        examples=count,
        left_out=pool.left_out,
        parts=_PARTS,
        has_test=goal.test is not None,
        measure=goal.kind.measure,
        metric=goal.kind.metric,
        data=building.fingerprints(tasks),
        model_bytes=sum(4 * each.numel() for each in model.parameters()),
        source_steps=_source_steps(config, [task for task in tasks if task.name != target]),
        source_examples={task.name: len(task.train) for task in tasks if task.name != target},
        remarks=[*remarks, *_of_pool(goal, pool.left_out)],
    )


def _checked_target(config: RunConfig) -> str:
    if not isinstance(config.target, str):
        raise ConfigError(
            "`tawt best` answers for one target; `target` names several.", place=("target",)
        )
    if config.weighting.unit != "task":
        raise ConfigError(
            f"`tawt best` weighs whole sources; got `weighting.unit: {config.weighting.unit}`. "
            "Leave it out.",
            place=("weighting", "unit"),
        )
    if config.fold is not None:
        raise ConfigError(
            "`tawt best` decides itself which examples are held out; leave `fold` out.",
            place=("fold",),
        )
    return config.target


def _source_steps(config: RunConfig, sources: Sequence[Task]) -> int:
    if config.training.steps is not None:
        return config.training.steps
    batch = config.training.batch_size
    return config.epochs * sum(math.ceil(len(task.train) / batch) for task in sources)


def _with_usual_passes(config: RunConfig, *, examples: int) -> RunConfig:
    """As many passes over the target as make a fair number of steps, where none are given."""
    if "target_epochs" in config.model_fields_set:
        return config
    steps = math.ceil(examples / config.training.batch_size)
    fewest, most = _PASSES
    return config.model_copy(
        update={"target_epochs": min(most, max(fewest, round(_STEPS / steps)))}
    )


def _of_pool(goal: Task, left_out: int) -> list[str]:
    if not left_out:
        return []
    assert goal.dev is not None
    return [
        f"{left_out} of {len(goal.dev)} dev examples of {goal.name!r} are not trained on: no "
        "training example has their labels."
    ]
