"""A model from labelled text and other data, in one call."""

from tawt.extras import need

need("cli", by=__name__)

from tawt.fitting.fitted import Fitted
from tawt.fitting.one_call import fit

__all__ = ["Fitted", "fit"]
