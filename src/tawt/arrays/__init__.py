"""Tasks from NumPy arrays, and small networks to learn them with."""

from tawt.extras import need

need("arrays", by=__name__)

from tawt.arrays.examples import ArrayExamples, classification, regression
from tawt.arrays.kinds import Classification, Regression
from tawt.arrays.networks import MLP, SmallCNN

__all__ = [
    "MLP",
    "ArrayExamples",
    "Classification",
    "Regression",
    "SmallCNN",
    "classification",
    "regression",
]
