"""The one loop, the paradigms it follows, and checkpoints of it."""

from tawt.extras import need

need("train", by=__name__)

from tawt.training.entry import train
from tawt.training.paradigms import (
    JointTraining,
    Paradigm,
    PreTraining,
    SingleTask,
    SourcesOnly,
)
from tawt.training.result import Predictions, TrainingResult
from tawt.training.settings import Settings

__all__ = [
    "JointTraining",
    "Paradigm",
    "PreTraining",
    "Predictions",
    "Settings",
    "SingleTask",
    "SourcesOnly",
    "TrainingResult",
    "train",
]
