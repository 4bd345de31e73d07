"""What is learned: tasks with their examples, and the model that they share."""

from tawt.tasks.examples import Batch, Examples, Shown
from tawt.tasks.kind import Kind
from tawt.tasks.label_scores import LabelScore
from tawt.tasks.measure import Measure
from tawt.tasks.model import MultiTaskModel
from tawt.tasks.task import SplitName, Task

__all__ = [
    "Batch",
    "Examples",
    "Kind",
    "LabelScore",
    "Measure",
    "MultiTaskModel",
    "Shown",
    "SplitName",
    "Task",
]
