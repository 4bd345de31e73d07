"""Which corpora, and how much of each, for a target."""

from tawt.extras import need

need("cli", by=__name__)

from tawt.mix.question import Intent, mix
from tawt.mix.result import CorpusShare, Difference, MixResult, RowLoss, Settling, load_mix

__all__ = [
    "CorpusShare",
    "Difference",
    "Intent",
    "MixResult",
    "RowLoss",
    "Settling",
    "load_mix",
    "mix",
]
