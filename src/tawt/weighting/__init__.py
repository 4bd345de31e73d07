"""When and how the weights move: the object to add to any training loop."""

from tawt.weighting.bandit import Bandit
from tawt.weighting.base import Weighting
from tawt.weighting.doge import DoGE
from tawt.weighting.excess_loss import ExcessLoss
from tawt.weighting.fixed import Fixed
from tawt.weighting.making import make_weighting
from tawt.weighting.outcome import Outcome
from tawt.weighting.rule import TargetShare, UpdateRule
from tawt.weighting.target_aware import TargetAware

__all__ = [
    "Bandit",
    "DoGE",
    "ExcessLoss",
    "Fixed",
    "Outcome",
    "TargetAware",
    "TargetShare",
    "UpdateRule",
    "Weighting",
    "make_weighting",
]
