"""A generated English-like corpus, for demonstrations that need no download.

Its four annotations are related as in real text: chunks and predicates follow from parts of speech,
entities are proper nouns. Many words are ambiguous and the lists have long tails, so that a hundred
sentences leave something to be learned.
"""

from tawt.demos.grammar.corpus import Annotated, generate
from tawt.demos.grammar.styles import Register

__all__ = ["Annotated", "Register", "generate"]
