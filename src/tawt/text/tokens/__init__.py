"""Words and texts as arrays of pieces."""

from tawt.text.tokens.tagged import NO_TAG, TaggedSentences, TagLabels
from tawt.text.tokens.whole import WholeTexts
from tawt.text.tokens.words import Long, WordPieces

__all__ = ["NO_TAG", "Long", "TagLabels", "TaggedSentences", "WholeTexts", "WordPieces"]
