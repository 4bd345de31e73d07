"""What is tried first: what has been worth trying elsewhere (docs/decisions/025-best.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tawt.best.trials import Chosen, Idea

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PARTLY: tuple[Chosen, ...] = ("first", "kept", "second")


def openings(*, sources: int, sharers: int = 0, rate: float, passes: float) -> Iterator[Idea]:
    """Ideas in the order in which they are tried.

    Args:
        sources: How many there are.
        sharers: How many of them could share the target's head.
        rate: The best for the target alone, as far as it is known.
        passes: Likewise.
    """
    best = Idea(rate=rate, passes=passes)
    yield Idea()
    yield Idea(order="sources first", weights="learned")
    yield Idea(rate=3.0)
    yield replace(best, order="sources first", weights="equal")
    if sharers:
        yield replace(best, order="sources first", weights="equal", heads="shared")
    yield Idea(rate=rate, passes=2.0)
    for chosen in _PARTLY if sources > 1 else ():
        yield replace(best, order="sources first", weights="equal", chosen=chosen)
    yield replace(best, order="together first", weights="learned")


def resolved(
    chosen: Chosen,
    *,
    sources: Sequence[str],
    weights: Mapping[str, float],
    hurtful: Sequence[str],
) -> tuple[str, ...]:
    """The sources that are meant.

    Args:
        chosen: Which.
        sources: All of them.
        weights: Learned ones, as far as they are known.
        hurtful: Sources that were said to hurt beside the others.

    Example:
        >>> weights = {"news": 0.1, "web": 0.6, "noise": 0.3}
        >>> names = list(weights)
        >>> resolved("second", sources=names, weights=weights, hurtful=[])
        ('noise',)
        >>> resolved("kept", sources=names, weights=weights, hurtful=["noise"])
        ('news', 'web')
    """
    if chosen == "kept":
        return tuple(name for name in sources if name not in hurtful) or tuple(sources)
    ranked = sorted(sources, key=lambda name: -weights.get(name, 0.0))
    place = {"first": 0, "second": 1, "third": 2}.get(chosen)
    if place is None or not weights:
        return tuple(sources)
    return (ranked[min(place, len(ranked) - 1)],)
