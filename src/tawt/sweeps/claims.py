"""The folder of a question: of one configuration, which is left there before the first run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt import files
from tawt.config import yaml_file
from tawt.config.schema import difference, dumped, parsed
from tawt.errors import RunError
from tawt.files import locks
from tawt.runs.folder import CONFIG as RUN_CONFIG

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tawt.config.schema import RunConfig


@dataclass(frozen=True)
class Claim:
    """What a question wants of its folder."""

    folder: Path
    config: RunConfig
    """What all runs share."""
    name: str
    """Of the file that the configuration is left in."""
    noun: str
    """What the folder holds, in messages: a comparison, say."""
    overwrite: bool = False
    """Whether another configuration is replaced by this one."""

    @property
    def path(self) -> Path:
        """Where the configuration is, or will be."""
        return self.folder / self.name

    def check(self) -> None:
        """Say why the folder must not be touched, if it must not; touch nothing.

        Raises:
            RunError: The folder holds a single run, or the same of another configuration.
        """
        if (self.folder / RUN_CONFIG).exists():
            raise RunError(
                f"{self.folder} holds a single run; give the {self.noun} another folder."
            )
        if self.path.exists() and not self.overwrite:
            changed = difference(self.config, kept=self._kept())
            if changed is not None:
                raise RunError(
                    f"{self.folder} holds a {self.noun} with another configuration ({changed}); "
                    "use --overwrite to start again, or give another folder."
                )

    def _kept(self) -> RunConfig:
        """The configuration that is there, its paths as they were given."""
        values, lines = yaml_file.read(self.path)
        return parsed(values, source=str(self.path), lines=lines)

    def write_config(self, *, should_stop: Callable[[], bool]) -> None:
        """Write the configuration into the folder, unless another process has meanwhile.

        Args:
            should_stop: Asked while another process writes there.

        Raises:
            RunError: As `check` does.
        """
        with locks.locked(self.folder, wait_unless=should_stop):
            self.check()  # it may have come meanwhile
            if self.overwrite or not self.path.exists():
                files.write(self.path, dumped(self.config))
