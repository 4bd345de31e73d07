"""What a mixture is looked for in: corpora, a target, and a model that it shares whole."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tawt.config.presets import PRESETS
from tawt.config.rows import ROWS, holds_share
from tawt.errors import ConfigError
from tawt.runs import building
from tawt.training.roles import heads_learn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.config.rows import Row
    from tawt.config.schema import RunConfig
    from tawt.tasks import Measure, MultiTaskModel, Task

EQUAL, BY_SIZE, LEARNED = "equal weights", "weights by size", "learned weights"
"""The rows."""
Unit = Literal["tokens", "examples"]
"""What amounts of data are counted in."""


@dataclass(frozen=True, kw_only=True)
class MixStudy:
    """Sources and a target that fit together, and what is known of their sizes."""

    config: RunConfig
    target: str
    rows: Sequence[Row]
    """Those whose runs are made, the learned one first; by size only where sizes differ."""
    examples: Mapping[str, int]
    """Training examples of each source."""
    amounts: Mapping[str, int]
    """How much each source has to train on, in `unit`."""
    unit: Unit
    all_sizes: Mapping[str, int]
    """Training examples of each task, the target's too."""
    data: Mapping[str, Any]
    """Size and fingerprint of every task's examples with the first seed."""
    held_out: Mapping[str, int]
    """Examples of the target's dev and test splits."""
    metric: str
    measure: Measure
    warnings: Sequence[str] = ()
    """What makes the target's scores doubtful."""

    @property
    def split(self) -> Literal["dev", "test"]:
        """The held-out examples that losses are reported on."""
        return "test" if "test" in self.held_out else "dev"

    @property
    def per_step(self) -> float:
        """How much a step trains on, in `unit`."""
        total = sum(self.amounts.values()) / sum(self.examples.values())
        return total * self.config.training.batch_size

    @property
    def epoch(self) -> int:
        """Steps that see as many examples as all sources have."""
        size = self.config.training.batch_size
        return sum(-(-count // size) for count in self.examples.values())


def examined(config: RunConfig, *, seed: int) -> MixStudy:
    """The study of a configuration, if a mixture can be looked for in it; nothing is written.

    Args:
        config: With a target, and sources to choose among.
        seed: Of the first runs.

    Raises:
        ConfigError: Saying what stands in the way.
    """
    target = _checked_target(config)
    config = config.model_copy(update={"paradigm": "sources only", "seed": seed})
    tasks, remarks = building.tasks_and_remarks(config)
    sources = [task for task in tasks if task.name != target]
    if len(sources) < 2:
        raise ConfigError(
            f"A mixture needs at least two sources; got {len(sources)}. Add another to `sources`.",
            place=("sources",),
        )
    goal = next(task for task in tasks if task.name == target)
    model = building.model(config, tasks)
    _check_shared(model, target)
    examples = {task.name: len(task.train) for task in sources}
    amounts, unit = _amounts(sources)
    alike = len(set(examples.values())) == 1
    rows = [ROWS[name] for name in (LEARNED, EQUAL, BY_SIZE) if not (alike and name == BY_SIZE)]
    _check_fit(rows, config, tasks, model, seed=seed)
    return MixStudy(
        config=config,
        target=target,
        rows=rows,
        examples=examples,
        amounts=amounts,
        unit=unit,
        all_sizes={task.name: len(task.train) for task in tasks},
        data=building.fingerprints(tasks),
        held_out={split: len(held) for split, held in goal.splits().items() if split != "train"},
        metric=goal.kind.metric,
        measure=goal.kind.measure,
        warnings=remarks,
    )


def proxy(config: RunConfig, *, steps: int, update_every: int) -> RunConfig:
    """What all runs share: so many steps of equal length, and the model at their end.

    A run that stopped early, or went back to its best epoch, would not be comparable to the others.

    Args:
        config: Of a study.
        steps: Of each run.
        update_every: Steps between updates of learned weights.
    """
    training = replace(
        config.training, steps=steps, update_every=update_every, select="last", patience=None
    )
    return config.model_copy(update={"epochs": 1, "training": training})


def ignored(config: RunConfig) -> list[str]:
    """What the configuration says of the target's part in training, which has none here.

    Args:
        config: As it was given.

    Example:
        >>> from tawt.config import parsed
        >>> config = {"data": {"kind": "digits"}, "target": "digit", "paradigm": "joint"}
        >>> ignored(parsed(config))
        ['`paradigm: joint`']
    """
    weighting = config.weighting
    found = []
    if "paradigm" in config.model_fields_set and config.paradigm != "sources only":
        found.append(f"`paradigm: {config.paradigm}`")
    usual = PRESETS[weighting.preset].target_share  # which nobody asked for
    if holds_share(config) and weighting.target_share != usual:
        found.append(f"`weighting.target_share: {weighting.target_share}`")
    return found


def _checked_target(config: RunConfig) -> str:
    if not isinstance(config.target, str):
        raise ConfigError(
            "`tawt mix` answers for one target; `target` names several.", place=("target",)
        )
    if config.weighting.unit != "task":
        raise ConfigError(
            f"`tawt mix` weighs whole sources; got `weighting.unit: {config.weighting.unit}`. "
            "Leave it out.",
            place=("weighting", "unit"),
        )
    if config.training.sampling == "size":
        raise ConfigError(
            "A mixture is how often each source is drawn, which needs `training.sampling: mixed` "
            f"(or `weight`, one source a step); got {config.training.sampling!r}.",
            place=("training", "sampling"),
        )
    return config.target


def _check_shared(model: MultiTaskModel, target: str) -> None:
    if heads_learn(model, [target]):
        raise ConfigError(
            f"`tawt mix` trains on the sources alone, and the head of the target {target!r} would "
            "stay untrained; it is for models that the target shares whole, such as language "
            "models (`data.kind: corpora`). `tawt compare` and `tawt distance` are for this one.",
            place=("target",),
        )


def _check_fit(
    rows: Sequence[Row],
    config: RunConfig,
    tasks: Sequence[Task],
    model: MultiTaskModel,
    *,
    seed: int,
) -> None:
    # How many steps there are is decided later, and checked then.
    unlimited = replace(config.training, steps=None, most_passes=None)
    unplanned = config.model_copy(update={"training": unlimited})
    with tempfile.TemporaryDirectory() as shared:
        for row in rows:
            building.fitted(row.applied(unplanned, seed=seed), tasks, model, shared=Path(shared))


def _amounts(sources: Sequence[Task]) -> tuple[dict[str, int], Unit]:
    """In tokens, where all sources say how many they have."""
    counts = {task.name: task.train.tokens for task in sources}
    tokens = {name: count for name, count in counts.items() if count is not None}
    if len(tokens) == len(counts):
        return tokens, "tokens"
    return {task.name: len(task.train) for task in sources}, "examples"
