"""The checkpoints of an unfinished run: the last two, each bound to its run."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.errors import RunError
from tawt.training import checkpoints as states

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.runs.folder import RunFolder

_log = logging.getLogger(__name__)

FOLDER = "checkpoints"
LAST, PREVIOUS = "state.safetensors", "previous.safetensors"


class FolderCheckpoint:
    """The loop's state in a run folder, saved every so many seconds.

    Two states are kept, so that a damaged one costs the time between two saves and not the run.

    Args:
        folder: Of the run.
        run: Key of the run, see `run_key`; a checkpoint with another key is not used.
        seconds: Between saves; 0 saves after every step.
    """

    def __init__(self, folder: RunFolder, *, run: str, seconds: float) -> None:
        self._folder = folder
        self._last = folder.path / FOLDER / LAST
        self._previous = folder.path / FOLDER / PREVIOUS
        self._run = run
        self._seconds = seconds
        self._saved = time.monotonic()
        self._last_is_good = False

    @property
    def run_folder(self) -> Path:
        """The folder of the run."""
        return self._folder.path

    def load(self) -> dict[str, Any] | None:
        """The newest whole state of the unfinished run, if it got as far as saving one.

        Raises:
            RunError: There are checkpoints, and none can be used.
        """
        problems: list[RunError] = []
        for path in (self._last, self._previous):
            if not path.exists():
                continue
            try:
                state = states.read(path, run=self._run)
            except RunError as error:
                problems.append(error)
                continue
            self._last_is_good = path == self._last
            if problems:
                _log.warning("%s; going on from the one before, %s.", problems[0], path)
            return state
        for problem in problems:
            if isinstance(problem, states.OtherVersionError):
                raise RunError(f"{problem}; use --overwrite to start the run again.") from problem
        if problems:
            raise RunError(
                f"{', and '.join(map(str, problems))}; put the run's own checkpoint back, or use "
                "--overwrite to start the run again."
            )
        return None

    def due(self) -> bool:
        """Whether enough time has passed."""
        return time.monotonic() - self._saved >= self._seconds

    def save(self, state: dict[str, Any]) -> None:
        """Keep a state beside the one before, and the history that belongs to it."""
        content = states.to_bytes(state, run=self._run)
        try:
            with files.whole(self._last) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                if self._last_is_good:  # what is damaged must not replace what is not
                    self._last.replace(self._previous)
                    self._last_is_good = False
        except OSError as error:
            raise files.not_written(self._last, error) from error
        self._last_is_good = True
        self._folder.write_weights(state["weighting"]["history"])
        self._saved = time.monotonic()


def run_key(config: RunConfig, data: Mapping[str, Any]) -> str:
    """The same for the same resolved configuration and the same examples, and for no others.

    Args:
        config: Of the run.
        data: Size and fingerprint of every task's examples.
    """
    values = {"config": config.model_dump(mode="json"), "data": data}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
