"""(F + λI)⁻¹v layer by layer, F in Kronecker factors: K-FAC and EKFAC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tawt.curvature.base import Curvature
from tawt.curvature.factors import corrected_spectrum, layers_of, product_spectrum
from tawt.curvature.labels import OwnLabels
from tawt.curvature.layers import Watch
from tawt.errors import ConfigError, TrainingError, is_number, is_whole
from tawt.gradients import gradient_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tawt.curvature.base import Vector, WeightedHessian
    from tawt.curvature.layers import Use
    from tawt.gradients import Gradient


@dataclass(frozen=True)
class KroneckerFactored(Curvature):
    """H ≈ A ⊗ B for each linear layer: A of its inputs, B of the gradients at its outputs.

    A = E[a aᵀ] and B = E[g gᵀ], over the examples of all sources by their weights. Layers are
    linear layers and convolutions, found while the losses are computed; curvature between layers
    counts as zero. Parameters that belong to neither (embeddings, norms) count as having the mean
    curvature of those that do.

    One forward and one backward pass of each source, then an eigendecomposition of each factor:
    the damping is exact, and nothing is iterated.

    Args:
        damping: λ, added to every eigenvalue.
        eigenvalues: "corrected" measures the curvature along each eigenvector of A ⊗ B (EKFAC);
            "products" takes A's times B's (K-FAC).
        labels: "sampled" draws labels from the model's own predictions, which makes H the
            Gauss-Newton matrix; it needs a loss from `torch.nn.functional` (cross-entropy,
            squared error, binary cross-entropy), others keep their labels. "given" keeps all.
        seed: Of the labels drawn.

    Example:
        >>> import torch
        >>> from tawt.curvature import WeightedHessian
        >>> layer = torch.nn.Linear(1, 1, bias=False)
        >>> _ = torch.nn.init.ones_(layer.weight)
        >>> inputs = torch.tensor([[1.0], [3.0]])
        >>> def loss_of(task):
        ...     return torch.nn.functional.mse_loss(layer(inputs), layer(inputs).detach() + 1.0)
        >>> hessian = WeightedHessian([layer.weight], {"a": 1.0}, loss_of)
        >>> curvature = KroneckerFactored(damping=1.0, labels="given")  # of 2² · E[a²] = 20
        >>> curvature.solve([torch.full((1, 1), 21.0)], hessian)
        [tensor([[1.]])]
    """

    damping: float = 0.01
    eigenvalues: Literal["corrected", "products"] = "corrected"
    labels: Literal["sampled", "given"] = "sampled"
    seed: int = 0
    needs_hessian = True

    def __post_init__(self) -> None:
        if not (is_number(self.damping) and self.damping > 0):
            raise ConfigError(
                f"KroneckerFactored needs damping > 0, a finite number; got {self.damping!r}."
            )
        if not is_whole(self.seed):
            raise ConfigError(
                f"`seed` of KroneckerFactored must be a whole number; got {self.seed!r}."
            )
        if self.eigenvalues not in ("corrected", "products"):
            raise ConfigError(
                '`eigenvalues` of KroneckerFactored must be "corrected" or "products"; '
                f"got {self.eigenvalues!r}."
            )
        if self.labels not in ("sampled", "given"):
            raise ConfigError(
                f'`labels` of KroneckerFactored must be "sampled" or "given"; got {self.labels!r}.'
            )

    def solve(self, gradient: Gradient, hessian: WeightedHessian | None) -> Gradient:
        """(F + λI)⁻¹ · gradient."""
        assert hessian is not None
        layers = layers_of(self._seen(hessian), hessian.parameters)
        if not layers:
            raise TrainingError(
                "KroneckerFactored saw no linear layer or convolution of the representation in "
                "the sources' losses. Is the model compiled, or made of other layers? "
                "ConjugateGradient works with any."
            )
        direction: Vector = hessian.filled(gradient)
        rest = dict(enumerate(direction))
        total, size = 0.0, 0
        for layer in layers:
            spectrum = _SPECTRA[self.eigenvalues](layer)
            spectrum.divide([rest.pop(place) for place in layer.places], damping=self.damping)
            layer.sources.clear()  # the largest of what is held
            total += float(spectrum.values.sum())
            size += spectrum.values.numel()
        for entry in rest.values():
            entry.div_(total / size + self.damping)
        return list(direction)

    def _seen(self, hessian: WeightedHessian) -> Iterator[tuple[float, list[Use], bool]]:
        """For `layers_of`, every source; one backward pass each."""
        labels = OwnLabels(seed=self.seed) if self.labels == "sampled" else None
        losses = hessian.losses()
        while True:
            with Watch(hessian.parameters, labels=labels) as watch:
                found = next(losses, None)
            if found is None:
                return
            share, loss = found
            gradient_of(loss, hessian.parameters)
            yield share, watch.uses, watch.by_root


_SPECTRA = {"corrected": corrected_spectrum, "products": product_spectrum}
