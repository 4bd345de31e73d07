"""Vocabularies: text as numbers, and back."""

from tawt.corpora.vocabularies.byte_ids import Bytes
from tawt.corpora.vocabularies.interface import Ids, Vocabulary
from tawt.corpora.vocabularies.naming import vocabulary_named
from tawt.corpora.vocabularies.pieces import Pieces

__all__ = ["Bytes", "Ids", "Pieces", "Vocabulary", "vocabulary_named"]
