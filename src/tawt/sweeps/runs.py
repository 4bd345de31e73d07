"""Work that is a run of a configuration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tawt.runs import Options, run

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.config import RunConfig
    from tawt.sweeps.work import Context


@dataclass(frozen=True)
class TrainRun:
    """Makes a run in its folder, or goes on with it; its record is the run's own."""

    config: RunConfig
    path: Path
    options: Options

    def __call__(self, context: Context) -> None:
        """Run; a finished run is left as it is."""
        options = replace(self.options, wait=context.wait)
        run(self.config, self.path, options=options, should_stop=context.should_stop)
