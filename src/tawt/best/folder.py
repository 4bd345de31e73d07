"""The folder of a search for the best model."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tawt import files
from tawt.best.candidates import CANDIDATES, HALVES
from tawt.best.result import ALONE_MODEL, BEST, MODEL
from tawt.best.trials import JOURNAL
from tawt.errors import RunError
from tawt.files import locks
from tawt.runs.folder import PAGE
from tawt.sweeps.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any

    from tawt.config.schema import RunConfig

CONFIG, DATA, MARKDOWN = "best.yaml", "data.json", "best.md"
_ANSWER = (BEST, MARKDOWN, PAGE)


class BestFolder:
    """Where the best model is looked for.

        best.yaml            the configuration, as it was given
        data.json            size and fingerprint of every task's examples
        study.log            the candidates, as Optuna keeps them
        candidates/N/PART/   the runs: of candidate N, with a part of the examples held out
        halves/N/WHOSE/PART/ the runs of what is used with half of the examples
        best/                the run whose model is used; alone/ is the target alone beside it
        best.json            the answer; best.md and report.html show it

    Args:
        path: The folder.
        config: As it was given.
        overwrite: Whether what is there may be replaced.
    """

    def __init__(self, path: Path, config: RunConfig, *, overwrite: bool) -> None:
        self.path = path
        self._overwrite = overwrite
        self._claim = Claim(path, config, CONFIG, "search", overwrite)

    def check(self, data: Mapping[str, Any]) -> None:
        """Say why the folder must not be touched, if it must not; touch nothing.

        Args:
            data: Size and fingerprint of every task's examples.

        Raises:
            RunError: It holds something else, or a search with other data.
        """
        started = (self.path / CONFIG).exists()
        if not started and self._has_files():
            raise RunError(f"{self.path} holds no search and is not empty; give another --out.")
        self._claim.check()
        if self._overwrite or not (self.path / DATA).exists():
            return
        known = files.read_json(self.path / DATA)
        for task in data:
            if not isinstance(known, dict) or known.get(task) != data[task]:
                raise RunError(
                    f"The examples of task {task!r} are not those that {self.path} was started "
                    "with; use --overwrite to start again, or give another --out."
                )

    @property
    def has_begun(self) -> bool:
        """Whether there are candidates, that are to stay."""
        return not self._overwrite and (self.path / JOURNAL).exists()

    def claim(self, data: Mapping[str, Any], *, should_stop: Callable[[], bool]) -> None:
        """Leave the configuration, and what tells the data apart; only its writer may go on.

        Args:
            data: Size and fingerprint of every task's examples.
            should_stop: Asked while another process writes there.
        """
        self._claim.write_config(should_stop=should_stop)
        with locks.locked(self.path, wait_unless=should_stop):
            if self._overwrite:
                for name in (CANDIDATES, HALVES, MODEL, ALONE_MODEL):
                    shutil.rmtree(self.path / name, ignore_errors=True)
                for name in (*_ANSWER, JOURNAL, DATA):
                    (self.path / name).unlink(missing_ok=True)
            if not (self.path / DATA).exists():
                files.write_json(self.path / DATA, dict(data))

    def _has_files(self) -> bool:
        if not self.path.is_dir():
            return self.path.exists()
        return any(not path.name.startswith(".") for path in self.path.iterdir())
