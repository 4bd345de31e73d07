"""Which examples of the sources agree least with the target, and which labels as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.errors import RunError
from tawt.runs import building, units
from tawt.runs.folder import DATA, RunFolder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.tasks import Task
    from tawt.weighting import Outcome


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What is worth a look in a run's sources."""

    examples: list[dict[str, Any]]
    """Those that agree least with the target among the examples of their label, least first."""
    labels: list[dict[str, Any]]
    """Labels whose examples agree less as a whole: another finding, about no single example."""


def examine(path: Path, *, most: int, trusted: bool = False) -> Audit:
    """Examples and labels of a finished run that agree least with the target.

    Args:
        path: Folder of a run with `unit: example` or `unit: group`.
        most: How many examples.
        trusted: The examples that agree most instead, most first.

    Raises:
        RunError: The run is not finished, weighed whole tasks, or its data has changed since.
    """
    folder = RunFolder(path)
    folder.record()
    if (path / units.VECTORS).exists():
        folder.checked(units.VECTORS)
    outcome = units.read(path)
    tasks = building.tasks(folder.config())
    _check_same(path, outcome, tasks)
    return Audit(
        examples=list(units.ranked(outcome, tasks, most=most, trusted=trusted)),
        labels=units.labels_that_agree_less(outcome, tasks),
    )


def audit(path: Path, *, most: int, trusted: bool = False) -> list[dict[str, Any]]:
    """The examples of a finished run that agree least with the target; see `examine`."""
    return examine(path, most=most, trusted=trusted).examples


def _check_same(path: Path, outcome: Outcome, tasks: Sequence[Task]) -> None:
    known, found = files.read_json(path / DATA), building.fingerprints(tasks)
    sizes = {task.name: len(task.train) for task in tasks}
    for source, size in outcome.weights.units.sizes.items():
        before = known.get(source) if isinstance(known, dict) else None
        if not isinstance(before, dict):
            raise RunError(
                f"The run folder {path} is damaged: {DATA} does not say which examples of "
                f"{source!r} it was trained on."
            )
        if source not in found or before.get("train") != found[source].get("train"):
            raise RunError(
                f"The examples of {source!r} are not those that {path} was trained on, so its "
                "weights would be read against the wrong ones; put the old data back."
            )
        if size != sizes[source]:
            raise RunError(
                f"The run folder {path} is damaged: {units.VECTORS} has weights for {size} "
                f"examples of {source!r}, and there are {sizes[source]}."
            )
