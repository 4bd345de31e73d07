"""Several processes that measure as one: numbers and gradients added up over them.

    x = Σ_r n_r x_r / Σ_r n_r              r is a process, n_r its examples

Every process gets the same result to the last bit. A process whose own part fails goes on taking
part with zeros, so that the others need not wait for it for ever; in the end all of them raise.
"""

from tawt.ranks.buckets import Buckets
from tawt.ranks.group import Ranks
from tawt.ranks.sharded import Shards, own_part, reshard, total_norm
from tawt.ranks.wrappers import Calls, check_parameters, watched_calls

__all__ = [
    "Buckets",
    "Calls",
    "Ranks",
    "Shards",
    "check_parameters",
    "own_part",
    "reshard",
    "total_norm",
    "watched_calls",
]
