"""Where what is noticed about data is logged."""

from __future__ import annotations

import logging

DATA_LOG = logging.getLogger("tawt.data")
"""Of remarks on what was read. A process that reads the same data again can silence it."""
