"""Small words that follow from numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def listed(names: Iterable[str]) -> str:
    """Names as a sentence has them.

    Args:
        names: One at least.

    Example:
        >>> listed(["pos"]), listed(["pos", "chunk", "ner"])
        ('pos', 'pos, chunk and ner')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def times(count: float) -> str:
    """How often something comes.

    Example:
        >>> times(0.0512), times(2.62), times(8519.6)
        ('0.05', '2.6', '8,520')
    """
    if count >= 10:
        return f"{count:,.0f}"
    return f"{count:.1f}" if count >= 1 else f"{count:.2f}"


def interval_of(finding: Mapping[str, Any] | None) -> str:
    """Where a weight would lie in nine of ten runs with other examples, if that is known.

    Example:
        >>> interval_of(None), interval_of({"weight_interval": [0.125, 0.5]})
        ('', '0.125 to 0.500')
    """
    ends = (finding or {}).get("weight_interval")
    return f"{ends[0]:.3f} to {ends[1]:.3f}" if ends else ""


def said_of(finding: Mapping[str, Any] | None) -> str:
    """What a record says of a source, and how surely.

    Example:
        >>> said_of({"verdict": "helps", "probability": 0.97}), said_of(None)
        ('helps (97%)', '')
    """
    return " ".join(verdict_and_chance(finding)).strip()


def verdict_and_chance(finding: Mapping[str, Any] | None) -> tuple[str, str]:
    """The verdict, and how surely it is said; where it is that nobody can tell, of what.

    Example:
        >>> verdict_and_chance({"verdict": "hurts", "probability": 0.004})
        ('hurts', '(99.6%)')
        >>> verdict_and_chance({"verdict": "cannot tell", "probability": 0.6})
        ('cannot tell', '(60% helps)')
    """
    if finding is None:
        return "", ""
    verdict, probability = str(finding["verdict"]), float(finding["probability"])
    if verdict == "cannot tell":
        return verdict, f"({100 * probability:.0f}% helps)"
    sure = 100 * max(probability, 1 - probability)
    return verdict, f"({min(sure, 99.9):.3g}%)"
