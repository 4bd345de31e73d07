"""The best model for a target within a budget, with sources only if they can be shown to help."""

from tawt.extras import need

need("cli", by=__name__)

from tawt.best.budget import Budget
from tawt.best.estimate import Estimate, estimated
from tawt.best.question import BestIntent, best
from tawt.best.result import BestResult, CandidateResult, SourceResult, load_best
from tawt.best.study import BestStudy, examined

__all__ = [
    "BestIntent",
    "BestResult",
    "BestStudy",
    "Budget",
    "CandidateResult",
    "Estimate",
    "SourceResult",
    "best",
    "estimated",
    "examined",
    "load_best",
]
