"""Kinds of text task. A new one is a file here, with its class and maker, and an entry below."""

from collections.abc import Callable, Mapping

from tawt.tasks import Task
from tawt.text.kinds.classifying import TextClassification, classification_task
from tawt.text.kinds.making import Cutting, Wanted
from tawt.text.kinds.regressing import TextRegression, regression_task
from tawt.text.kinds.tagging import Tagging, tagging_task
from tawt.text.reading import Splits

MAKERS: Mapping[str, Callable[[str, Splits, Cutting, Wanted], Task]] = {
    "tagging": tagging_task,
    "classification": classification_task,
    "pair": classification_task,
    "regression": regression_task,
}
"""By the kind's name in a configuration."""

__all__ = [
    "MAKERS",
    "Cutting",
    "Tagging",
    "TextClassification",
    "TextRegression",
    "Wanted",
    "classification_task",
    "regression_task",
    "tagging_task",
]
