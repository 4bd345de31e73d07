"""Data that tawt brings along, for demonstrations that need no download."""

from tawt.extras import need

need("arrays", by=__name__)
