"""Ways of training beside each other, over several seeds."""

from tawt.compare.comparison import Comparison, RowResult, load_comparison
from tawt.compare.question import compare

__all__ = ["Comparison", "RowResult", "compare", "load_comparison"]
