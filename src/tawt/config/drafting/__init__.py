"""A configuration from data files: which belong together, what they are, and what fits them."""

from tawt.config.drafting.configuration import Draft, draft, drafted
from tawt.config.drafting.grouping import grouped

__all__ = ["Draft", "draft", "drafted", "grouped"]
