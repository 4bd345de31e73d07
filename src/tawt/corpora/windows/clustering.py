"""Clusters of windows by which tokens stand side by side in them: k-means, without a model.

    features    how often each run of one to three tokens comes, in 2048 buckets by its hash;
                square roots, rare buckets weighed up, of length one
    directions  the 32 along which a sample of the corpus differs most
    clusters    k-means of the sample; every other window is in the nearest

Only the sample is held in memory; the corpus goes through it in blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.cluster import KMeans

from tawt.corpora.windows.base import gathered
from tawt.errors import ConfigError
from tawt.streams import derived_seed, stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tawt.corpora.windows.base import CorpusWindows
    from tawt.tasks.examples import Indices
    from tawt.units import Numbers

_BITS = 11
_BUCKETS = 1 << _BITS
_LONGEST = 3  # tokens of a run
_DIRECTIONS = 32
_SPARE, _ROUNDS = 10, 4  # directions and rounds that find them exactly enough
_SAMPLE = 8192  # windows that directions and clusters are of, 64 MB
_TOKENS_AT_ONCE = 1 << 18
_STARTS, _MOST_ROUNDS = 2, 60  # of k-means, of which the best is kept
_ODD = np.uint32(0x9E3779B1)  # 2³² divided by the golden ratio
_MIXING = np.uint32(0x85EBCA6B)
_SHIFT = np.uint32(32 - _BITS)


def clusters(windows: CorpusWindows, count: int, *, seed: int) -> Numbers:
    """The cluster that each window is in, from 0.

    Args:
        windows: Of one corpus.
        count: Clusters to make; fewer are found where fewer windows differ.
        seed: Of the sample and of k-means.

    Returns:
        A number for each window, int32.

    Raises:
        ConfigError: There are to be more clusters than windows are looked at to find them.
    """
    size = len(windows)
    if count > _SAMPLE:
        raise ConfigError(
            f"Clusters of windows are found in {_SAMPLE:,} of them, so there can be no more; got "
            f"{count:,}. Lower `weighting.group.count`, or set `weighting.unit` to example.",
            place=("weighting", "group", "count"),
        )
    draw = stream(seed, "clusters", "sample")
    sample = np.sort(draw.choice(size, size=min(size, _SAMPLE), replace=False))
    counts = np.empty((len(sample), _BUCKETS), np.float32)
    for part in _blocks(len(sample), windows.width):
        counts[part] = run_counts(windows, sample[part])
    rarity = (1 + np.log((1 + len(sample)) / (1 + (counts > 0).sum(axis=0)))).astype(np.float32)
    features = _scaled(counts, rarity)
    directions = _directions(features, seed=derived_seed(seed, "clusters", "directions"))
    placed = features @ directions
    different = len(np.unique(placed.round(4), axis=0))  # equal windows differ by rounding alone
    means = KMeans(
        min(count, different),
        n_init=_STARTS,
        max_iter=_MOST_ROUNDS,
        random_state=derived_seed(seed, "clusters", "means") % 2**32,
    ).fit(placed)
    centres = np.asarray(means.cluster_centers_, np.float32)
    squares, twice = (centres**2).sum(axis=1), 2 * centres.T
    numbers = np.empty(size, np.int32)
    for part in _blocks(size, windows.width):
        found = _scaled(run_counts(windows, np.arange(part.start, part.stop)), rarity)
        numbers[part] = (squares - found @ directions @ twice).argmin(axis=1)
    return numbers


def run_counts(windows: CorpusWindows, indices: Indices) -> NDArray[np.float32]:
    """How often runs of one, two and three tokens come in windows, by the bucket of their hash.

    Args:
        windows: Of a corpus.
        indices: Of those to look at.

    Returns:
        Shape `(windows, buckets)`.
    """
    tokens, lengths = gathered(
        windows.shard.tokens,
        windows.starts(indices),
        width=windows.width,
        filler=windows.vocabulary.padding,
    )
    rows = np.arange(len(tokens))[:, None] * (_BUCKETS + 1)
    counts = np.zeros(len(tokens) * (_BUCKETS + 1), np.int64)
    single = _mixed(tokens.astype(np.uint32))
    runs = single
    for length in range(1, min(_LONGEST, windows.width) + 1):
        if length > 1:
            runs = runs[:, :-1] * _ODD + single[:, length - 1 :]
        places = ((runs * _MIXING) >> _SHIFT).astype(np.int64)
        # What reaches past the end of the corpus goes to a bucket of its own, which is dropped.
        for row in np.flatnonzero(lengths < windows.width):
            places[row, max(lengths[row] - length + 1, 0) :] = _BUCKETS
        places += rows
        counts += np.bincount(places.ravel(), minlength=len(counts))
    return counts.reshape(len(tokens), -1)[:, :_BUCKETS].astype(np.float32)


def _scaled(counts: NDArray[np.float32], rarity: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of length one; in the place of the counts."""
    np.sqrt(counts, out=counts)
    counts *= rarity
    counts /= np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)
    return counts


def _directions(features: NDArray[np.float32], *, seed: int) -> NDArray[np.float32]:
    """Those with the largest singular values, by subspace iteration; `(buckets, directions)`."""
    draw = np.random.default_rng(seed)
    found = draw.standard_normal((features.shape[1], _DIRECTIONS + _SPARE), dtype=np.float32)
    for _ in range(_ROUNDS):
        found = _orthogonal(features.T @ (features @ found))
    return np.ascontiguousarray(found[:, -_DIRECTIONS:])


def _orthogonal(columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of the same span and of length one, the longest last."""
    wide = columns.astype(np.float64)
    squares, turns = np.linalg.eigh(wide.T @ wide)
    lengths = np.sqrt(np.maximum(squares, 1e-12 * squares[-1]))
    found: NDArray[np.float32] = (wide @ (turns / np.maximum(lengths, 1e-30))).astype(np.float32)
    return found


def _blocks(size: int, width: int) -> list[slice]:
    """So many windows, a few at a time."""
    rows = max(1, _TOKENS_AT_ONCE // max(width, _BUCKETS // _LONGEST))
    return [slice(start, min(start + rows, size)) for start in range(0, size, rows)]


def _mixed(values: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Every bit of the result depends on every bit of the value (a round of MurmurHash3)."""
    values = (values ^ (values >> np.uint32(16))) * _MIXING
    return values ^ (values >> np.uint32(13))
