"""A vocabulary by what a configuration calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tawt.corpora.vocabularies.byte_ids import Bytes
from tawt.corpora.vocabularies.pieces import Pieces

if TYPE_CHECKING:
    from tawt.corpora.vocabularies.interface import Vocabulary


def vocabulary_named(name: str) -> Vocabulary:
    """The vocabulary of this name.

    Args:
        name: `bytes`, or where a tokenizer is: a name on the Hugging Face hub, a folder (one that
            `Bytes` was saved in, too), or `package:NAME`.

    Raises:
        ConfigError: There is no such tokenizer, or it cannot be used.

    Example:
        >>> vocabulary_named("bytes").size
        260
    """
    return Bytes() if name == "bytes" or _has_bytes(name) else Pieces(name)


def _has_bytes(name: str) -> bool:
    """Whether it is a folder with the tokenizer that `Bytes` leaves."""
    try:
        file = Path(name).expanduser() / "tokenizer_config.json"
        found = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except (OSError, RuntimeError, ValueError):
        return False  # whoever loads it says what is wrong
    return found.get("tokenizer_class") == "ByT5Tokenizer" and found.get("extra_ids") == 0
