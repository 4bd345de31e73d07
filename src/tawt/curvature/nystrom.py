"""(H + λI)⁻¹v from a few random looks at H."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.curvature.base import Curvature, eigenvectors, flat, split
from tawt.errors import ConfigError, is_number, is_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tawt.curvature.base import WeightedHessian
    from tawt.gradients import Gradient


@dataclass(frozen=True)
class Nystrom(Curvature):
    """A randomised Nyström approximation of H, inverted exactly with its damping.

    H is multiplied with `rank` random vectors Ω, and Y(ΩᵀY)⁻¹Yᵀ with Y = HΩ stands for it. In the
    directions that this misses, H counts as its mean eigenvalue there, estimated by one product
    more; counting it as zero would leave almost nothing but those directions. At full rank, for
    an H without negative eigenvalues, the result is the damped inverse itself.

    Where training has not converged, H has negative eigenvalues. Combinations of the random
    vectors along which H is not positive are then left out, and what is kept is positive: there
    is nothing to stop at, and where H has both signs it is taken for too large, not too small.

    Y has `rank` copies of the representation; there is no way round that. The random vectors are
    not kept but drawn again, from `seed` alone: no other random stream is touched.

    Args:
        rank: Of the approximation; an update takes `rank` + 1 Hessian products.
        damping: λ, added to H.
        seed: Of the random vectors.

    Example:
        >>> from tawt.curvature import WeightedHessian
        >>> x = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> bowl = torch.tensor([1.0, 2.0])
        >>> hessian = WeightedHessian([x], {"a": 1.0}, lambda task: (x**2 * bowl).sum())
        >>> (direction,) = Nystrom(rank=2, damping=1.0).solve([torch.tensor([3.0, 5.0])], hessian)
        >>> direction.round(decimals=3)
        tensor([1., 1.])
    """

    rank: int = 20
    damping: float = 0.01
    seed: int = 0
    needs_hessian = True

    def __post_init__(self) -> None:
        counts = is_whole(self.rank) and self.rank >= 1 and is_whole(self.seed)
        if not counts or not (is_number(self.damping) and self.damping > 0):
            raise ConfigError(
                "Nystrom needs rank ≥ 1 and a seed, whole numbers, and damping > 0, finite; got "
                f"rank={self.rank!r}, seed={self.seed!r}, damping={self.damping!r}."
            )

    def solve(self, gradient: Gradient, hessian: WeightedHessian | None) -> Gradient:
        """(H + λI)⁻¹ · gradient, approximately."""
        assert hessian is not None
        vector = hessian.filled(gradient)
        right = flat(vector)

        def image(probe: Tensor) -> Tensor:
            return flat(hessian.product(split(probe, like=vector)))

        sketch = right.new_empty(min(self.rank, len(right)), len(right))
        probes = self._probes(right)
        for row in sketch:
            row.copy_(image(next(probes)))
        probes = self._probes(right)
        core = torch.stack([sketch @ next(probes) for _ in sketch])
        values, mixing = _spectrum(core, sketch @ sketch.T)
        # The approximation is exact on its own probes; what it misses takes another to see.
        probe = next(probes)
        parts = mixing.T @ (sketch @ probe).double()
        missed = float(probe @ image(probe)) - float(values @ parts.square())
        room = float(probe @ probe) - float(parts.square().sum())
        level = max(missed, 0.0) / room if room > 1e-6 * len(right) else 0.0
        outside = 1 / (level + self.damping)
        inside = 1 / (values + self.damping) - outside
        parts = mixing @ (inside * (mixing.T @ (sketch @ right).double()))
        return list(split(outside * right + parts.to(right.dtype) @ sketch, like=vector))

    def _probes(self, like: Tensor) -> Iterator[Tensor]:
        """Standard normal vectors, the same ones at every call."""
        generator = torch.Generator(like.device).manual_seed(self.seed)
        while True:
            yield torch.randn(len(like), generator=generator, device=like.device, dtype=like.dtype)


def _spectrum(core: Tensor, gram: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues of Y·core⁻¹·Yᵀ, and what to mix the columns of Y by for its eigenvectors.

    Args:
        core: ΩᵀY, shape `(rank, rank)`; combinations along which it is not positive are left out.
        gram: YᵀY, shape `(rank, rank)`.

    Returns:
        Both in float64, shapes `(kept,)` and `(rank, kept)`.
    """
    rounding = torch.finfo(core.dtype).eps
    core, gram = core.double(), gram.double()
    sizes, combinations = eigenvectors((core + core.T) / 2)
    # Half the digits: below that, dividing by it leaves more rounding than Hessian.
    kept = sizes > sizes.abs().max() * rounding**0.5
    roots = combinations[:, kept] / sizes[kept].sqrt()
    values, rotation = eigenvectors(roots.T @ gram @ roots)
    kept = values > values.sum() * rounding
    return values[kept], (roots @ rotation)[:, kept] / values[kept].sqrt()
