"""Where what is noticed about data is logged."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA_LOG = logging.getLogger("tawt.data")
"""Of remarks on what was read. A process that reads the same data again can silence it."""


@contextmanager
def said_before() -> Iterator[None]:
    """Log no remarks inside: the data that is read there was read before.

    Example:
        >>> with said_before():
        ...     DATA_LOG.isEnabledFor(logging.WARNING)
        False
    """
    level = DATA_LOG.level
    DATA_LOG.setLevel(logging.ERROR)
    try:
        yield
    finally:
        DATA_LOG.setLevel(level)
