"""How wide a batch is padded: to one of a few widths, so that shapes repeat."""

from __future__ import annotations

_STEPS = (8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128)


def padded_width(longest: int) -> int:
    """The smallest of a few widths that is long enough.

    They are a few pieces apart for short texts and at most a quarter of the length for long ones:
    little is padded, and a GPU meets the same shapes again and again.

    Example:
        >>> [padded_width(length) for length in (3, 17, 33, 129, 500)]
        [8, 20, 40, 160, 512]
    """
    scale = 1
    while longest > _STEPS[-1] * scale:
        scale *= 2
    return next(step * scale for step in _STEPS if step * scale >= longest)
