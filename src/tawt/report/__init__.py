"""Tables, plots, and one self-contained HTML page."""

from tawt.report.distances import distance_page
from tawt.report.page import comparison_page, result_page, runs_page
from tawt.report.tables import markdown

__all__ = ["comparison_page", "distance_page", "markdown", "result_page", "runs_page"]
