"""From configurations to runs, over seeds, to records and tests of significance."""

from tawt.studies.compare import Comparison, RowResult, compare, load_comparison
from tawt.studies.config import RunConfig, load, parsed
from tawt.studies.folder import RunFolder
from tawt.studies.run import Options, run

__all__ = [
    "Comparison",
    "Options",
    "RowResult",
    "RunConfig",
    "RunFolder",
    "compare",
    "load",
    "load_comparison",
    "parsed",
    "run",
]
