"""Scores without the test examples that stand, or nearly stand, in what was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.config.schema import RunConfig
    from tawt.tasks import Task
    from tawt.training.result import Predictions


def on_unseen(
    config: RunConfig,
    tasks: Sequence[Task],
    predictions: Mapping[str, Mapping[str, Predictions]],
) -> dict[str, dict[str, Any]]:
    """Of every target with such test examples: which they are, and the scores on the others.

    Args:
        config: Of the run.
        tasks: Sources and targets.
        predictions: By target and split.
    """
    if config.fold is not None and config.fold.part is not None:
        return {}  # copies of one text are in one part
    targets = [task for task in tasks if task.name in config.targets]
    trained_on = targets if config.paradigm == "single-task" else tasks
    found = {}
    for task in targets:
        seen = seen_in_training(task, trained_on)
        if seen:
            answers = predictions[task.name]["test"]
            others = sorted(set(range(len(answers.gold))) - set(seen))
            gold, predicted = (
                [given[place] for place in others] for given in (answers.gold, answers.predicted)
            )
            scores = _scores(task, gold, predicted)
            found[task.name] = {"seen": seen, "of": len(answers.gold), "scores": scores}
    return found


def _scores(task: Task, gold: list[Any], predicted: list[Any]) -> dict[str, float]:
    """None where too few are left for them."""
    if not gold:
        return {}
    try:
        return dict(task.kind.scores(gold, predicted))
    except DataError:  # no label is left that a score is about
        return {}


def seen_in_training(task: Task, trained_on: Sequence[Task]) -> list[int]:
    """The places of test examples whose inputs are among those that are trained on, or nearly.

    Args:
        task: Whose test examples are meant.
        trained_on: All tasks that are.
    """
    ours = None if task.test is None else task.test.likenesses()
    known = [found for each in trained_on if (found := each.train.likenesses()) is not None]
    if ours is None or not known:
        return []
    return [int(place) for place in np.flatnonzero(np.isin(ours, np.concatenate(known)))]


def unseen_in_words(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A sentence for each target that has such examples.

    Args:
        found: From `on_unseen`.
    """
    return [
        f"{len(each['seen'])} of the {each['of']} test examples of {target!r} stand in what was "
        "trained on, or nearly do; `unseen` in record.json has the scores without them."
        for target, each in found.items()
    ]
