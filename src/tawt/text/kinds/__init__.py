"""Kinds of text task. A new one is a file here that ends in a `TextKind`, and its name below."""

from tawt.errors import ConfigError, suggestion
from tawt.text.kinds.classifying import (
    CLASSIFICATION,
    PAIR,
    TextClassification,
    classification_task,
)
from tawt.text.kinds.making import Cutting, TaskOptions
from tawt.text.kinds.masking import UNLABELLED, MaskedWords
from tawt.text.kinds.regressing import REGRESSION, TextRegression, regression_task
from tawt.text.kinds.tagging import TAGGING, Tagging, tagging_task
from tawt.text.kinds.text_kind import TextAnswers, TextKind

_BUILT_IN = (TAGGING, CLASSIFICATION, PAIR, REGRESSION)

KINDS: dict[str, TextKind] = {kind.name: kind for kind in _BUILT_IN}
"""By the kind's name in a configuration. `unlabelled` is none of them: its files have no labels."""


def register(kind: TextKind) -> None:
    """Make a kind known to configurations that are loaded from now on, in this process.

    Args:
        kind: One whose name no other kind has.

    Raises:
        ConfigError: Another kind has that name.

    Example:
        >>> register(TAGGING)
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: There is a kind of task 'tagging' already; choose another name.
    """
    if kind.name in KINDS or kind.name == UNLABELLED:
        raise ConfigError(f"There is a kind of task {kind.name!r} already; choose another name.")
    KINDS[kind.name] = kind


def kind_named(name: str) -> TextKind:
    """The kind of that name.

    Raises:
        ConfigError: There is none.

    Example:
        >>> kind_named("pair").level
        'text'
    """
    if name not in KINDS:
        known = suggestion(name, [*KINDS, UNLABELLED])
        raise ConfigError(f"There is no kind of task {name!r}; {known}", place=("kind",))
    return KINDS[name]


__all__ = [
    "KINDS",
    "UNLABELLED",
    "Cutting",
    "MaskedWords",
    "Tagging",
    "TaskOptions",
    "TextAnswers",
    "TextClassification",
    "TextKind",
    "TextRegression",
    "classification_task",
    "kind_named",
    "register",
    "regression_task",
    "tagging_task",
]
