"""Corpora from text that every installation of Python carries, for a demonstration of mixing.

Nothing is downloaded: the text is that of the standard library itself (docstrings, comments, code,
the language reference, names of characters) and of the generated grammar. What a version of Python
does not have is left out.
"""

from tawt.demos.stdlib.collecting import Collected, collected

__all__ = ["Collected", "collected"]
