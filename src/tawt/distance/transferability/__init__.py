"""How well features or predictions of a source would serve the target, without training.

Every score is higher for the better source, and is for comparing sources of the same target: its
value also depends on the target's classes. Everything is computed in float64, whatever comes in.

    logme                   how probable the labels are under a linear model of the features
    h_score, plain_h_score  how much of the features' variance lies between the classes
    transrate               how much shorter a code for the features is given the classes
    leep, nce               how well the labels follow from a source model's predictions
"""

from tawt.distance.transferability.coding_rate import transrate
from tawt.distance.transferability.evidence import log_evidence, logme
from tawt.distance.transferability.predictions import leep, nce
from tawt.distance.transferability.separation import h_score, plain_h_score

__all__ = [
    "h_score",
    "leep",
    "log_evidence",
    "logme",
    "nce",
    "plain_h_score",
    "transrate",
]
