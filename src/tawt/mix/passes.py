"""How often a mixture repeats each source, and weights that repeat none too often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.training.passes import limited

if TYPE_CHECKING:
    from collections.abc import Mapping

_RARE = 1e-3  # a source that is drawn less often is not worth opening its file
_RARE_SHARE = 0.1  # the same, of an equal share: among a thousand sources each is drawn rarely
DECIMALS = 6
"""Of probabilities in files."""


def passes_over(
    weights: Mapping[str, float], amounts: Mapping[str, int], *, wanted: float
) -> dict[str, float]:
    """How often each source is passed over.

    Args:
        weights: Probabilities of drawing each.
        amounts: How much there is of each.
        wanted: How much is trained on in all.

    Example:
        >>> passes_over({"a": 0.75, "b": 0.25}, {"a": 100, "b": 100}, wanted=400)
        {'a': 3.0, 'b': 1.0}
    """
    return {name: share * wanted / amounts[name] for name, share in weights.items()}


def capped(
    weights: Mapping[str, float], amounts: Mapping[str, int], *, wanted: float, most: float | None
) -> Mapping[str, float]:
    """The weights nearest in proportion that pass over no source too often.

    Without a limit, and where all there is is not enough, the weights as they are.

    Args:
        weights: Probabilities of drawing each source.
        amounts: How much there is of each.
        wanted: How much is trained on in all.
        most: Passes over a source, if there is a limit.

    Example:
        >>> capped({"a": 0.8, "b": 0.2}, {"a": 10, "b": 90}, wanted=100, most=4)
        {'a': 0.4, 'b': 0.6}
    """
    if most is None:
        return weights
    limits = {name: most * amounts[name] / wanted for name in weights}
    return limited(weights, limits) or weights


def too_rare(weights: Mapping[str, float], *, beside: Mapping[str, float]) -> set[str]:
    """The sources that are left out of a mixture, because they would hardly ever be drawn.

    They have less than 0.1% (and less than a tenth of an equal share, among more than a hundred)
    both before and after sources were held. One that is rare because it is held stays, unless its
    probability is rounded to zero: programs that wait for every source would wait for ever.

    Args:
        weights: Probabilities of drawing each, as they are used.
        beside: The same before any was held.

    Example:
        >>> too_rare({"a": 0.999, "b": 0.0008, "c": 0.0002}, beside={"a": 0.7, "b": 0, "c": 0.3})
        {'b'}
    """
    least = min(_RARE, _RARE_SHARE / len(weights))
    return {
        name
        for name, share in weights.items()
        if max(share, beside[name]) < least or not round(share, DECIMALS)
    }
