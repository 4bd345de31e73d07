"""The configuration of a run: its schema, its presets, and errors that say where they are."""

from tawt.extras import need

need("cli", by=__name__)

from tawt.config.schema import RunConfig, difference, dumped, load, parsed
from tawt.config.weighting import GroupConfig

__all__ = ["GroupConfig", "RunConfig", "difference", "dumped", "load", "parsed"]
