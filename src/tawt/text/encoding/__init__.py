"""Encoders of text: found, loaded, and without their last layer.

Names are loaded when they are first used: where an encoder is can be known without transformers,
which takes seconds to import.
"""

from typing import TYPE_CHECKING, Any

from tawt.lazy import load as load_name

if TYPE_CHECKING:
    from tawt.text.encoding.finding import located
    from tawt.text.encoding.loading import (
        Level,
        load_body,
        load_tokenizer,
        longest_input,
        width_of,
    )
    from tawt.text.encoding.masked_head import MaskedHead
    from tawt.text.encoding.representation import PieceInputs, TextInputs, TextRepresentation

__all__ = [
    "Level",
    "MaskedHead",
    "PieceInputs",
    "TextInputs",
    "TextRepresentation",
    "load_body",
    "load_tokenizer",
    "located",
    "longest_input",
    "width_of",
]

_HOMES = {
    "finding": ("located",),
    "loading": ("Level", "load_body", "load_tokenizer", "longest_input", "width_of"),
    "masked_head": ("MaskedHead",),
    "representation": ("PieceInputs", "TextInputs", "TextRepresentation"),
}


def __getattr__(name: str) -> Any:
    return load_name("tawt.text.encoding", _HOMES, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
