"""Tasks from labelled text files, with Hugging Face encoders.

Names are loaded when they are first used: transformers takes seconds to import.
"""

from typing import TYPE_CHECKING, Any

from tawt.extras import need
from tawt.lazy import load as load_name

need("text", by=__name__)

if TYPE_CHECKING:
    from tawt.fitting import Fitted, fit
    from tawt.text.encoding import TextRepresentation, load_tokenizer
    from tawt.text.kinds import (
        Cutting,
        Tagging,
        TaskOptions,
        TextClassification,
        TextRegression,
        classification_task,
        regression_task,
        tagging_task,
    )
    from tawt.text.model import text_model
    from tawt.text.reading import ReadOptions, SplitFiles, load
    from tawt.text.saving import save_model

__all__ = [
    "Cutting",
    "Fitted",
    "ReadOptions",
    "SplitFiles",
    "Tagging",
    "TaskOptions",
    "TextClassification",
    "TextRegression",
    "TextRepresentation",
    "classification_task",
    "fit",
    "load",
    "load_tokenizer",
    "regression_task",
    "save_model",
    "tagging_task",
    "text_model",
]

_HOMES = {
    "encoding": ("TextRepresentation", "load_tokenizer"),
    "kinds": (
        "Cutting",
        "Tagging",
        "TextClassification",
        "TextRegression",
        "TaskOptions",
        "classification_task",
        "regression_task",
        "tagging_task",
    ),
    "model": ("text_model",),
    "reading": ("ReadOptions", "SplitFiles", "load"),
    "saving": ("save_model",),
}


_ABOVE = {"fitting": ("Fitted", "fit")}
"""Of runs and questions, which nothing here knows of: it is looked for where text is."""


def __getattr__(name: str) -> Any:
    if any(name in names for names in _ABOVE.values()):
        return load_name("tawt", _ABOVE, name)
    return load_name("tawt.text", _HOMES, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
