"""What is learned: tasks with their examples, and the model that they share."""

from tawt.tasks.model import MultiTaskModel
from tawt.tasks.task import Batch, Examples, Kind, Task

__all__ = ["Batch", "Examples", "Kind", "MultiTaskModel", "Task"]
