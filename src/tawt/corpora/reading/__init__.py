"""The documents of a corpus, one after the other, whatever its size."""

from tawt.corpora.reading.documents import LONGEST, Document
from tawt.corpora.reading.files import read
from tawt.corpora.reading.known import KnownLines, KnownLineSearch
from tawt.corpora.reading.sources import Source, sources_of

__all__ = ["LONGEST", "Document", "KnownLineSearch", "KnownLines", "Source", "read", "sources_of"]
