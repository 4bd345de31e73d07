"""What is learned: tasks with their examples, and the model that they share."""

from tawt.tasks.kinds import Classification, Regression
from tawt.tasks.model import MultiTaskModel
from tawt.tasks.task import Batch, Examples, Kind, Task

__all__ = ["Batch", "Classification", "Examples", "Kind", "MultiTaskModel", "Regression", "Task"]
