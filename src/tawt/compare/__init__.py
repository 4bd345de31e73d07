"""Ways of training beside each other, over several seeds."""

from tawt.extras import need

need("cli", by=__name__)

from tawt.compare.comparison import Comparison, RowResult, load_comparison
from tawt.compare.question import compare

__all__ = ["Comparison", "RowResult", "compare", "load_comparison"]
