"""Shards: tokenised corpora on disk, made once and mapped into memory."""

from tawt.corpora.shards.making import Progress, tokenised
from tawt.corpora.shards.shard import Shard, ShardIndex

__all__ = ["Progress", "Shard", "ShardIndex", "tokenised"]
