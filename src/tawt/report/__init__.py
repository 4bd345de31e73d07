"""What pages are made of: parts, figures, tables, and one self-contained HTML file of them.

A page is `build_page`: the verdict in sentences (`lead`) and numbers (`Fact`), what to be careful
about (`cautions`), and parts. What several pages show is made here once: sources with intervals
(`sources`), rows with intervals (`dots`), learning curves (`learning`), labels and errors
(`mistakes`), weights over time (`over_time`), groups and examples (`units`).
"""

from tawt.extras import need

need("cli", by=__name__)

from tawt.report.page import build_page
from tawt.report.parts import Cell, Fact, Figure, Part, Table

__all__ = ["Cell", "Fact", "Figure", "Part", "Table", "build_page"]
