"""Shards: tokenised corpora on disk, made once and mapped into memory."""

from tawt.corpora.shards.making import TokenisingProgress, tokenised
from tawt.corpora.shards.shard import Shard, ShardIndex

__all__ = ["Shard", "ShardIndex", "TokenisingProgress", "tokenised"]
