"""What pages are made of: parts, figures, tables, and one self-contained HTML file of them."""

from tawt.extras import need

need("cli", by=__name__)

from tawt.report.page import build_page
from tawt.report.parts import Cell, Fact, Figure, Part, Table

__all__ = ["Cell", "Fact", "Figure", "Part", "Table", "build_page"]
