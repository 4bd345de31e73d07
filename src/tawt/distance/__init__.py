"""How far a source is from the target, with and without training."""

from tawt.extras import need

need("cli", by=__name__)

from tawt.distance.bound import Rates, Terms, rates
from tawt.distance.estimates import ESTIMATES, Estimates, Estimator
from tawt.distance.gains import Gain, gain_of
from tawt.distance.jobs import Job, Workshop
from tawt.distance.measuring import answered, estimated, task_distance
from tawt.distance.question import Question
from tawt.distance.ranks import rank_correlation
from tawt.distance.result import TaskDistance
from tawt.distance.samples import SampleSizes
from tawt.distance.trained import Distance, frozen_risk
from tawt.significance import interval

__all__ = [
    "ESTIMATES",
    "Distance",
    "Estimates",
    "Estimator",
    "Gain",
    "Job",
    "Question",
    "Rates",
    "SampleSizes",
    "TaskDistance",
    "Terms",
    "Workshop",
    "answered",
    "estimated",
    "frozen_risk",
    "gain_of",
    "interval",
    "rank_correlation",
    "rates",
    "task_distance",
]
