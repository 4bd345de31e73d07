"""Every run once, whichever experiments ask for it.

    FOLDER/runs/KEY/          the run's own folder, without its model
    FOLDER/records/KEY.json   all that tables are made from

KEY is made from the configuration and the contents of the files it names, so the same run is found
again however it is asked for. A record is written when its run is done: what a crash leaves is
resumed, and what is done is never made again.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from tawt import sweeps
from tawt.reproduce.contents import by_contents

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tawt.config import RunConfig
    from tawt.runs import RunFolder
    from tawt.sweeps import Record

_KEPT = (
    *("target", "metric", "scores", "weights", "multipliers", "seed", "steps", "seconds"),
    *("versions", "machine", "commit", "data"),
)
_OF_UNITS = ("count", "entropy", "effective_sample_size", "quantiles")
_CAME_SINCE: Mapping[str, Mapping[str, Any]] = {
    # Fields that earlier versions did not have, at what these did: no part of a key.
    "training": {
        "measure": "fresh batches",
        "steps": None,
        "most_passes": None,
        "compile": False,
        "update_growth": 0.0,
        "target_examples": None,
        "guard": False,
        "target_from": "all",
        "measure_through": "trained heads",
    },
    "data": {"cache": None},
    "": {"fold": None},  # beside the sections
}
_CAME_TO_TASKS: Mapping[str, Any] = {"rename": {}, "head": None}


class Store:
    """Runs and their records.

    Args:
        folder: Where they are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.records = records_in(folder)

    def path(self, config: RunConfig) -> Path:
        """The run's folder."""
        return run_path(self.folder, key(config))

    def get(self, config: RunConfig) -> Record | None:
        """The record of the run with this configuration, if it is made."""
        return self.named(key(config))

    def named(self, name: str) -> Record | None:
        """The record of that key, if there is one."""
        return self.records.find(name)

    def write(self, name: str, record: Record) -> None:
        """Write a record under a key."""
        self.records.keep(name, record)


def records_in(folder: Path) -> sweeps.RecordStore:
    """The records in a folder, by key."""
    return sweeps.RecordStore(folder, "records/{}.json")


def run_path(folder: Path, name: str) -> Path:
    """Where the run of a key is."""
    return folder / "runs" / name


def kept_of(config: RunConfig, run: RunFolder) -> Record:
    """What is kept of a run that is done.

    Raises:
        RunError: It is not.
    """
    record = run.record()
    [target] = config.targets
    return {
        **{name: record[name] for name in _KEPT if name in record},
        "scale": config.weighting.scale,
        "updates": [_kept(update) for update in run.updates()],
        "examples": [round(score, 5) for score in run.example_scores(target)],
    }


def _kept(update: dict[str, Any]) -> dict[str, Any]:
    """Of an update; of groups and examples, how evenly their weights were spread."""
    kept = {name: update[name] for name in ("step", "weights", "alignments")}
    units = update.get("units")
    if units:
        kept["units"] = {name: units[name] for name in _OF_UNITS}
    return kept


def key(config: RunConfig) -> str:
    """The same for the same configuration, whatever it is called and wherever its files are.

    Files count by their contents: data that was changed in place makes another run.

    Example:
        >>> from tawt.config import parsed
        >>> values = {"data": {"kind": "digits"}, "target": "digit"}
        >>> one, other = parsed(values), parsed({**values, "name": "other"})
        >>> key(one) == key(other), key(one) == key(parsed({**values, "seed": 1}))
        (True, False)
    """
    values = config.model_dump(mode="json", exclude={"name"})
    # Fields that are gone, at their defaults: runs made before are found under the keys they have.
    values["weighting"]["curvature"] |= {"rank": 20, "labels": "sampled"}
    for section, defaults in _CAME_SINCE.items():
        _drop(values[section] if section else values, defaults)
    for fields in values["data"].get("tasks", {}).values():
        _drop(fields, _CAME_TO_TASKS)
    return key_of(by_contents(values))


def _drop(fields: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    for name, default in defaults.items():
        if name in fields and fields[name] == default:
            del fields[name]


def key_of(values: dict[str, Any]) -> str:
    """Of any JSON value."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]
