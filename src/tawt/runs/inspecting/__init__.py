"""What is in the data, before anything is trained on it."""

from tawt.runs.inspecting.facts import (
    DataFacts,
    LabelCount,
    NumberFacts,
    Overlap,
    SplitFacts,
    TaskFacts,
)
from tawt.runs.inspecting.inspection import inspect_config, inspect_file
from tawt.text.measuring import Lengths, PieceFacts

__all__ = [
    "DataFacts",
    "LabelCount",
    "Lengths",
    "NumberFacts",
    "Overlap",
    "PieceFacts",
    "SplitFacts",
    "TaskFacts",
    "inspect_config",
    "inspect_file",
]
