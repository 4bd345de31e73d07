"""From the section `weighting.curvature` to the object that applies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.curvature import AdamDiagonal, ConjugateGradient, Curvature, Dense, Identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from tawt.config.weighting import CurvatureConfig


def curvature(settings: CurvatureConfig) -> Curvature:
    """How H⁻¹ is applied.

    Args:
        settings: The section `weighting.curvature`.

    Example:
        >>> from tawt.config.weighting import CurvatureConfig
        >>> type(curvature(CurvatureConfig(kind="adam"))).__name__
        'AdamDiagonal'
    """
    damping = settings.damping
    kinds: dict[str, Callable[[], Curvature]] = {
        "identity": lambda: Identity(scale=settings.scale),
        "adam": lambda: AdamDiagonal(damping=damping),
        "conjugate-gradient": lambda: ConjugateGradient(
            damping=damping, iterations=settings.iterations
        ),
        "dense": lambda: Dense(damping=damping),
    }
    return kinds[settings.kind]()
