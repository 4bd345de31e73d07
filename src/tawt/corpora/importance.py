"""Text chosen by how much it resembles a target: hashed n-grams and importance resampling.

    features       words and pairs of neighbouring words, each counted in one of 10,000 buckets
    importance     log w(x) = Σ log(p_target / p_sources), over the features of a piece of text
    resampling     the k pieces with the largest log w + Gumbel noise

This is DSIR (Xie et al. 2023, "Data Selection for Language Models via Importance Resampling"). What
differs: buckets are smoothed by a pseudo-count on both sides, where the authors add 1e-8 to the
probabilities; another hash is used; and short pieces are not filtered out. Importance is a sum
over features, so give pieces of similar lengths: otherwise length would count more than content.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.errors import DataError, is_number, is_whole
from tawt.streams import stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

_WORD = re.compile(r"\w+|[^\w\s]+")
_AT_ONCE = 200_000  # words whose features are computed together
_REMEMBERED = 200_000  # words whose hash is kept: the frequent ones of any language
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio
_MIXING = np.uint64(0xBF58476D1CE4E5B9)


@dataclass(frozen=True, eq=False)
class BucketCounts:
    """How often the words and pairs of words of some text fall in each bucket.

    Words are lower-case, and runs of punctuation count as words. Add the buckets of several corpora
    to get those of all of them.

    Args:
        counts: One for each bucket, int64.

    Example:
        >>> found = BucketCounts.of(["To be, or not to be", "to be"])
        >>> int(found.counts.sum())  # 9 words and 7 pairs
        16
    """

    counts: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str], *, buckets: int = 10_000) -> BucketCounts:
        """Count the features of these texts, which are read once.

        Args:
            texts: One piece of text after another.
            buckets: How many there are.
        """
        if not (is_whole(buckets) and buckets >= 1):
            raise DataError(f"`buckets` must be a whole number of at least 1; got {buckets!r}.")
        counts = np.zeros(buckets, dtype=np.int64)
        for features, _, _ in _features(texts):
            counts += np.bincount(_places(features, buckets), minlength=buckets)
        return cls(counts)

    def __add__(self, other: BucketCounts) -> BucketCounts:
        _check_alike(self, other)
        return BucketCounts(self.counts + other.counts)

    def log_probabilities(self, *, smoothing: float = 1.0) -> NDArray[np.float64]:
        """Logarithm of the share of each bucket.

        Args:
            smoothing: What is added to every count, so that no bucket is impossible.
        """
        if not (is_number(smoothing) and smoothing > 0):
            raise DataError(f"`smoothing` must be a positive number, such as 1; got {smoothing!r}.")
        smoothed = self.counts + float(smoothing)
        return np.asarray(np.log(smoothed) - np.log(smoothed.sum()))


def log_importance(
    texts: Iterable[str], *, target: BucketCounts, sources: BucketCounts, smoothing: float = 1.0
) -> NDArray[np.float64]:
    """How much more likely each text is under the target than under the sources; a logarithm.

    Args:
        texts: Pieces to choose from, read once.
        target: Of the text that others should resemble.
        sources: Of all the text that there is to choose from.
        smoothing: What is added to every count of both.

    Returns:
        One number for each text, float64; 0 for a text without words.

    Example:
        >>> target, sources = BucketCounts.of(["a b"]), BucketCounts.of(["a b", "c d"])
        >>> near, far = log_importance(["a b", "c d"], target=target, sources=sources)
        >>> bool(near > far)
        True
    """
    _check_alike(target, sources)
    ratios = target.log_probabilities(smoothing=smoothing)
    ratios = ratios - sources.log_probabilities(smoothing=smoothing)
    found: list[NDArray[Any]] = [np.zeros(0)]
    for features, owners, count in _features(texts):
        each = ratios[_places(features, len(ratios))]
        found.append(np.bincount(owners, weights=each, minlength=count))
    return np.concatenate(found)


def resampled(logs: NDArray[Any], *, count: int, seed: int) -> NDArray[np.int64]:
    """Choose pieces without replacement, each draw in proportion to importance.

    The largest sums of log importance and Gumbel noise are such a draw.

    Args:
        logs: Log importance of each piece.
        count: How many to choose.
        seed: Of the draw.

    Returns:
        Positions of the chosen pieces, in ascending order.

    Example:
        >>> resampled(np.array([0.0, 90.0, -90.0, 80.0]), count=2, seed=0)
        array([1, 3])
    """
    logs = np.asarray(logs, dtype=np.float64)
    if logs.ndim != 1 or not np.isfinite(logs).all():
        raise DataError(
            "`logs` must be one finite number for each piece of text, as `log_importance` returns; "
            f"got an array of shape {logs.shape}"
            + (" in which some are not finite." if logs.ndim == 1 else ".")
        )
    if not (is_whole(count) and 1 <= count <= len(logs)):
        raise DataError(
            f"`count` must be a whole number from 1 to the number of pieces, {len(logs)}; got "
            f"{count!r}."
        )
    noisy = logs + stream(seed, "importance").gumbel(size=len(logs))
    return np.sort(np.argpartition(-noisy, count - 1)[:count]).astype(np.int64)


def importance_shares(
    logs: Mapping[str, NDArray[Any]], *, count: int, seed: int
) -> dict[str, float]:
    """The share that each corpus has of the pieces chosen from all of them.

    Args:
        logs: Log importance of each corpus's pieces, by the corpus's name.
        count: How many pieces to choose.
        seed: Of the draw.

    Example:
        >>> logs = {"news": np.array([9.0, 90.0]), "code": np.array([-90.0, 80.0])}
        >>> importance_shares(logs, count=2, seed=0)
        {'news': 0.5, 'code': 0.5}
    """
    if not logs:
        raise DataError("`logs` must name at least one corpus; got none.")
    ends = np.cumsum([len(found) for found in logs.values()])
    chosen = resampled(np.concatenate(list(logs.values())), count=count, seed=seed)
    owners = np.searchsorted(ends, chosen, side="right")
    times = np.bincount(owners, minlength=len(ends))
    return {name: int(found) / count for name, found in zip(logs, times, strict=True)}


class _Hashes(dict[str, int]):
    """64 bits of each word, the same in every process, kept for the words that came last."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        digest = hashlib.blake2b(word.encode(errors="surrogatepass"), digest_size=8).digest()
        self[word] = found = int.from_bytes(digest, "little")
        return found


def _features(
    texts: Iterable[str],
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.int64], int]]:
    """Features of many texts at once: their hashes, the text of each, and how many texts."""
    hashes = _Hashes()
    for words in _batches(texts):
        lengths = np.array([len(found) for found in words])
        each = map(hashes.__getitem__, chain.from_iterable(words))
        single = np.fromiter(each, dtype=np.uint64, count=int(lengths.sum()))
        owners = np.repeat(np.arange(len(words)), lengths)
        inside = owners[1:] == owners[:-1]  # the last word of a text and the next one's are no pair
        pairs = _mixed(single[:-1] * _ODD + single[1:])[inside]
        yield (
            np.concatenate([single, pairs]),
            np.concatenate([owners, owners[1:][inside]]),
            len(words),
        )


def _batches(texts: Iterable[str]) -> Iterator[list[list[str]]]:
    """The words of each text, of as many texts as make an array worth its while."""
    if isinstance(texts, str):
        raise DataError("`texts` must be pieces of text; got one text. Write `[text]`.")
    batch: list[list[str]] = []
    total = 0
    for text in texts:
        if not isinstance(text, str):
            raise DataError(f"`texts` must be pieces of text; got {type(text).__name__}.")
        batch.append(_WORD.findall(text.lower()))
        total += len(batch[-1]) + 1  # texts without a word count too
        if total >= _AT_ONCE:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of the result depends on every bit of the value (a round of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * _MIXING
    return values ^ (values >> np.uint64(31))


def _places(features: NDArray[np.uint64], buckets: int) -> NDArray[np.int64]:
    return (features % np.uint64(buckets)).astype(np.int64)


def _check_alike(one: BucketCounts, other: BucketCounts) -> None:
    if len(one.counts) != len(other.counts):
        raise DataError(
            f"Both must have the same number of buckets; got {len(one.counts)} and "
            f"{len(other.counts)}. Count them with the same `buckets`."
        )
