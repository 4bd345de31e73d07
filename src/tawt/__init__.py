"""Learn how much each of your other datasets should count for the task you care about.

The object to add to a training loop is `TargetAware`; the whole of it is `train`, or the command
`tawt`. Names are loaded when they are first used, so that `tawt --help` need not wait for torch.
"""

from typing import TYPE_CHECKING, Any

from tawt.lazy import load
from tawt.version import __version__

if TYPE_CHECKING:
    from tawt.arrays import Classification, Regression
    from tawt.curvature import (
        AdamDiagonal,
        ConjugateGradient,
        Dense,
        Identity,
    )
    from tawt.distance import task_distance
    from tawt.errors import TawtError
    from tawt.hypergradient import Cosine, CurvatureWeighted
    from tawt.mixture import Mixture, MixtureSampler, TaggedExamples
    from tawt.tasks import MultiTaskModel, Task
    from tawt.training import (
        JointTraining,
        PreTraining,
        Settings,
        SingleTask,
        TrainingResult,
        train,
    )
    from tawt.units import Units
    from tawt.weighting import Fixed, TargetAware, UpdateRule, Weighting
    from tawt.weights import SourceWeights

__all__ = [
    "AdamDiagonal",
    "Classification",
    "ConjugateGradient",
    "Cosine",
    "CurvatureWeighted",
    "Dense",
    "Fixed",
    "Identity",
    "JointTraining",
    "Mixture",
    "MixtureSampler",
    "MultiTaskModel",
    "PreTraining",
    "Regression",
    "Settings",
    "SingleTask",
    "SourceWeights",
    "TaggedExamples",
    "TargetAware",
    "Task",
    "TawtError",
    "TrainingResult",
    "Units",
    "UpdateRule",
    "Weighting",
    "__version__",
    "task_distance",
    "train",
]

_HOMES = {
    "arrays": ("Classification", "Regression"),
    "curvature": (
        "AdamDiagonal",
        "ConjugateGradient",
        "Dense",
        "Identity",
    ),
    "distance": ("task_distance",),
    "errors": ("TawtError",),
    "hypergradient": ("Cosine", "CurvatureWeighted"),
    "mixture": ("Mixture", "MixtureSampler", "TaggedExamples"),
    "tasks": ("MultiTaskModel", "Task"),
    "training": (
        "JointTraining",
        "PreTraining",
        "Settings",
        "SingleTask",
        "TrainingResult",
        "train",
    ),
    "units": ("Units",),
    "weighting": ("Fixed", "TargetAware", "UpdateRule", "Weighting"),
    "weights": ("SourceWeights",),
}


def __getattr__(name: str) -> Any:
    return load("tawt", _HOMES, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
