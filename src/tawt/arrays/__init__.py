"""Tasks from NumPy arrays, and small networks to learn them with."""

from tawt.arrays.digits import DIGITS_TASKS, digits_tasks
from tawt.arrays.examples import ArrayExamples, classification, regression
from tawt.arrays.kinds import Classification, Regression
from tawt.arrays.networks import MLP, SmallCNN

__all__ = [
    "DIGITS_TASKS",
    "MLP",
    "ArrayExamples",
    "Classification",
    "Regression",
    "SmallCNN",
    "classification",
    "digits_tasks",
    "regression",
]
