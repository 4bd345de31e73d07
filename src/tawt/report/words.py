"""Small words that follow from numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_ALIKE = 1.25  # times another: shares that nobody would tell apart
_NEAR = 1.1  # times another: as large
_METRICS = {"f1": "F1", "r2": "R²", "mse": "MSE", "mae": "MAE"}
_NAMED = 4  # that a sentence names


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


def largest_and_smallest(shares: Mapping[str, float], *, what: str = "learned weights") -> str:
    """Which sources have more weight than others, or that they are about alike.

    Args:
        shares: By name, one at least.
        what: They are called.

    Example:
        >>> largest_and_smallest({"near": 0.6, "next": 0.3, "far": 0.1})
        'The learned weights are largest on near (60%), and smallest on far (10%).'
        >>> largest_and_smallest({"near": 0.29, "next": 0.25, "far": 0.16})
        'The learned weights are largest on near (29%), and smallest on far (16%).'
        >>> largest_and_smallest({"near": 0.26, "next": 0.25, "far": 0.24})
        'The learned weights are about alike (24% to 26%).'
    """
    ranked = sorted(shares, key=lambda name: -shares[name])
    most, least = shares[ranked[0]], shares[ranked[-1]]
    if most <= _ALIKE * least:
        if len(ranked) == 1:
            return f"{ranked[0]} has {_percent(most)} of the weight."
        ends = dict.fromkeys((_percent(least), _percent(most)))
        return f"The {what} are about alike ({' to '.join(ends)})."
    equal = sum(shares.values()) / len(shares)
    up = [name for name in ranked if shares[name] > max(_ALIKE * equal, most / 4)]
    down = [name for name in reversed(ranked) if shares[name] < equal / 2]
    up = up or [name for name in ranked if shares[name] > most / _NEAR]
    down = down or [name for name in reversed(ranked) if shares[name] < least * _NEAR]

    def with_shares(names: list[str]) -> str:
        named = [f"{name} ({_percent(shares[name])})" for name in names[:_NAMED]]
        left = len(names) - _NAMED
        return listed([*named, f"{left} more"] if left > 0 else named)

    return f"The {what} are largest on {with_shares(up)}, and smallest on {with_shares(down)}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def metric_in_words(name: str) -> str:
    """A metric as a person writes it.

    Example:
        >>> metric_in_words("macro_f1"), metric_in_words("bits_per_byte")
        ('macro F1', 'bits per byte')
    """
    words = name.replace("_", " ").split(" ")
    return " ".join(_METRICS.get(word, word) for word in words)


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
