"""Colours of what is drawn, by a name that is a class of the page's style.

They go by those of Okabe and Ito, which the colour-blind can tell apart, made darker for light
paper and lighter for the dark, so that each stands out from the paper three to one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PAPER = ("#ffffff", "#14181c")
"""On light paper, and in the dark."""
SERIES = ("c0", "c1", "c2", "c3", "c4", "c5", "c6")
"""Of lines and bars, in this order."""
REST = "rest"
"""Of all that is beyond these."""
_SHADES = (
    *(("#123f6b", "#d7ecfb"), ("#1b5a93", "#a9d3f2"), ("#2f75b3", "#7db9e6")),
    *(("#4a8ac2", "#5a9fd6"), ("#5a8ebd", "#4586c0"), ("#74889b", "#557a9c")),
)
TONES: Mapping[str, tuple[str, str]] = {
    "c0": ("#0072b2", "#4ea8de"),
    "c1": ("#d55e00", "#f08a4b"),
    "c2": ("#008a64", "#2fbf93"),
    "c3": ("#b5578c", "#d98cb8"),
    "c4": ("#a87400", "#e0a93b"),
    "c5": ("#8c564b", "#d0a796"),
    "c6": ("#7a52c7", "#ab8cf0"),
    REST: ("#7d858d", "#8a939c"),
    **{f"s{k}": pair for k, pair in enumerate(_SHADES)},
    "helps": ("#008a64", "#2fbf93"),
    "hurts": ("#c8500a", "#f08a4b"),
    "unclear": ("#7d858d", "#8a939c"),
}


def tone(position: int) -> str:
    """Of a series; those beyond the colours that can be told apart are grey.

    Example:
        >>> tone(0), tone(99)
        ('c0', 'rest')
    """
    return SERIES[position] if position < len(SERIES) else REST


def tone_of(verdict: str) -> str:
    """Of what is known of a source.

    Example:
        >>> tone_of("helps"), tone_of("cannot tell")
        ('helps', 'unclear')
    """
    return verdict if verdict in ("helps", "hurts") else "unclear"


def shaded(count: int) -> list[str]:
    """So many tones in an order, from the strongest to the weakest.

    Example:
        >>> shaded(3), shaded(1)
        (['s0', 's2', 's5'], ['s0'])
    """
    last = len(_SHADES) - 1
    return [f"s{round(place * last / max(1, count - 1) - 0.01)}" for place in range(count)]


def style() -> str:
    """Every tone as a class, for light paper and for the dark."""
    light = "".join(f".{name}{{--tone:{colour}}}" for name, (colour, _) in TONES.items())
    dark = "".join(f".{name}{{--tone:{colour}}}" for name, (_, colour) in TONES.items())
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"
