"""From configurations to runs, over seeds, to records and tests of significance."""

from tawt.studies.compare import Comparison, RowResult, compare, load_comparison
from tawt.studies.config import RunConfig, load, parsed
from tawt.studies.folder import RunFolder
from tawt.studies.grouping import grouped
from tawt.studies.run import Options, run
from tawt.studies.weighting_sections import GroupConfig

__all__ = [
    "Comparison",
    "GroupConfig",
    "Options",
    "RowResult",
    "RunConfig",
    "RunFolder",
    "compare",
    "grouped",
    "load",
    "load_comparison",
    "parsed",
    "run",
]
