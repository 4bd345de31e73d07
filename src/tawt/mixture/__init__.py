"""Which task a step trains on, and which of its examples, by weights that may move."""

from tawt.mixture.draws import Draw, TaskDraws, Weights, shares_of
from tawt.mixture.fresh import FreshBatches
from tawt.mixture.mixture import Mixture
from tawt.mixture.orders import Order
from tawt.mixture.processes import Processes
from tawt.mixture.sampler import MixtureSampler
from tawt.mixture.settings import Batches
from tawt.mixture.tagged import TaggedExamples

__all__ = [
    "Batches",
    "Draw",
    "FreshBatches",
    "Mixture",
    "MixtureSampler",
    "Order",
    "Processes",
    "TaggedExamples",
    "TaskDraws",
    "Weights",
    "shares_of",
]
