"""What pages are made of: plots, tables, and one self-contained HTML file."""

from tawt.extras import need

need("cli", by=__name__)

from tawt.report import figures
from tawt.report.page import Plot, Section, build_page, titled

__all__ = ["Plot", "Section", "build_page", "figures", "titled"]
