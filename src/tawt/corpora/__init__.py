"""Corpora: raw text, tokenised once and cut into windows.

Names are loaded when they are first used: transformers takes seconds to import.
"""

from typing import TYPE_CHECKING, Any

from tawt.extras import need
from tawt.lazy import load as load_name

need("corpora", by=__name__)

if TYPE_CHECKING:
    from tawt.corpora.sections import CorpusFiles
    from tawt.corpora.shards import Shard, tokenised
    from tawt.corpora.vocabularies import Bytes, Pieces, Vocabulary, vocabulary_named
    from tawt.corpora.windows import MaskedWindows, Windows

__all__ = [
    "Bytes",
    "CorpusFiles",
    "MaskedWindows",
    "Pieces",
    "Shard",
    "Vocabulary",
    "Windows",
    "tokenised",
    "vocabulary_named",
]

_HOMES = {
    "sections": ("CorpusFiles",),
    "shards": ("Shard", "tokenised"),
    "vocabularies": ("Bytes", "Pieces", "Vocabulary", "vocabulary_named"),
    "windows": ("MaskedWindows", "Windows"),
}


def __getattr__(name: str) -> Any:
    return load_name("tawt.corpora", _HOMES, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
