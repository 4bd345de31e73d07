"""Which examples of the sources the target trusts least: where to look for wrong labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.errors import RunError
from tawt.studies import building, files, units
from tawt.studies.folder import DATA, RunFolder

if TYPE_CHECKING:
    from pathlib import Path


def audit(path: Path, *, most: int, trusted: bool = False) -> list[dict[str, Any]]:
    """The examples of a finished run that the target trusts least, least first.

    Args:
        path: Folder of a run with `unit: example` or `unit: group`.
        most: How many.
        trusted: The most trusted instead, most first.

    Raises:
        RunError: The run is not finished, weighed whole tasks, or its data has changed since.
    """
    folder = RunFolder(path)
    folder.record()
    outcome = units.read(path)
    tasks = building.tasks(folder.config())
    known, found = files.read_json(path / DATA), building.fingerprints(tasks)
    for source in outcome.weights.units.sizes:
        if known.get(source, {}).get("train") != found[source].get("train"):
            raise RunError(
                f"The examples of {source!r} are not those that {path} was trained on, so its "
                "weights would be read against the wrong ones; put the old data back."
            )
    return list(units.ranked(outcome, tasks, most=most, trusted=trusted))
