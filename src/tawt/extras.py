"""The extras of the package: which libraries each brings, and what is said where they are not.

A package that needs more than the core asks for its extra at the top of its `__init__`, before it
imports anything else. So it names its own extra, whichever library is missing, and whether the
package itself imports it or one below does.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from tawt.errors import TawtError

_TRAIN = ("accelerate", "safetensors")
_ARRAYS = ("sklearn", "pydantic", *_TRAIN)
_TEXT = ("transformers", "tokenizers", "seqeval", "scipy", *_ARRAYS)
LIBRARIES = {
    "train": _TRAIN,
    "arrays": _ARRAYS,
    "text": _TEXT,
    "corpora": ("pyarrow", "filelock", *_TEXT),
    "lora": ("peft", "pyarrow", "filelock", *_TEXT),
    "trainer": ("transformers", "accelerate"),
    "cli": ("typer", "rich", "yaml", "filelock", "scipy", "jinja2", "optuna", *_ARRAYS),
}
"""Names of modules, by the extra that brings them."""


class MissingExtraError(TawtError, ImportError):
    """A part of tawt that is used without the libraries it needs."""


def need(extra: str, *, by: str) -> None:
    """Go on only where the libraries of an extra are installed.

    Args:
        extra: Its name.
        by: What needs it, as the error is to call it.

    Raises:
        MissingExtraError: One of them is not; it says what to install, in one line.

    Example:
        >>> need("train", by="tawt.training")
    """
    for library in LIBRARIES[extra]:
        if not _is_there(library):
            raise MissingExtraError(
                f"{by} needs the extra {extra!r} ({library} is not installed); "
                f"pip install 'tawt[{extra}]' brings it."
            )


def _is_there(library: str) -> bool:
    if library in sys.modules:
        return sys.modules[library] is not None
    return find_spec(library) is not None
