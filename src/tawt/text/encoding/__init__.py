"""Encoders of text: found, loaded, and without their last layer."""

from tawt.text.encoding.finding import located
from tawt.text.encoding.loading import Level, load_body, load_tokenizer, longest_input
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
]
