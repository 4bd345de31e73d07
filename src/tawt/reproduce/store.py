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

from tawt import files
from tawt.reproduce.contents import by_contents
from tawt.runs import RunFolder

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.config import RunConfig
    from tawt.reproduce.choices import Record

_KEPT = (
    *("target", "metric", "scores", "weights", "multipliers", "seed", "steps", "seconds"),
    *("versions", "machine", "commit", "data"),
)
_OF_UNITS = ("count", "entropy", "effective_sample_size", "quantiles")


class Store:
    """Runs and their records.

    Args:
        folder: Where they are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, Record] = {}

    def path(self, config: RunConfig) -> Path:
        """The run's folder."""
        return self.folder / "runs" / key(config)

    def get(self, config: RunConfig) -> Record | None:
        """The record of the run with this configuration, if it is made."""
        return self.named(key(config))

    def named(self, name: str) -> Record | None:
        """The record of that key, if there is one."""
        path = self._record(name)
        if name not in self._read:
            if not path.exists():
                return None
            self._read[name] = files.read_json(path)
        return self._read[name]

    def keep(self, config: RunConfig) -> None:
        """Write the record of a run that is done."""
        folder = RunFolder(self.path(config))
        record = folder.record()
        [target] = config.targets
        self.write(
            key(config),
            {
                **{name: record[name] for name in _KEPT if name in record},
                "scale": config.weighting.scale,
                "updates": [_kept(update) for update in folder.updates()],
                "examples": [round(score, 5) for score in folder.example_scores(target)],
            },
        )

    def write(self, name: str, record: Record) -> None:
        """Write a record under a key."""
        files.write_json(self._record(name), record)
        self._read.pop(name, None)

    def _record(self, name: str) -> Path:
        return self.folder / "records" / f"{name}.json"


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
    # A field that is gone, at its default: runs made before are found under the keys they have.
    values["weighting"]["curvature"]["rank"] = 20
    return key_of(by_contents(values))


def key_of(values: dict[str, Any]) -> str:
    """Of any JSON value."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]
