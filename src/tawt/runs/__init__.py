"""One run: from a configuration to a folder with its record and its page."""

from tawt.extras import need

need("cli", by=__name__)

from tawt.runs.folder import RunFolder
from tawt.runs.grouping import grouped
from tawt.runs.run import Options, run

__all__ = ["Options", "RunFolder", "grouped", "run"]
