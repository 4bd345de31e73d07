"""The documents of a corpus, one after the other, whatever its size."""

from tawt.corpora.reading.documents import LONGEST, Document
from tawt.corpora.reading.files import read
from tawt.corpora.reading.known import KnownLines, Search
from tawt.corpora.reading.sources import Source, sources_of

__all__ = ["LONGEST", "Document", "KnownLines", "Search", "Source", "read", "sources_of"]
