"""Ways of training beside each other, over several seeds."""

from tawt.compare.comparison import Comparison, RowResult, compare, load_comparison

__all__ = ["Comparison", "RowResult", "compare", "load_comparison"]
