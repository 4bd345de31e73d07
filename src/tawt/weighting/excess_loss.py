"""Weights that follow what is left to learn: DoReMi."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from tawt import simplex
from tawt.errors import ConfigError, WeightsError, is_number
from tawt.hypergradient import Hypergradient
from tawt.hypergradient.losses import fresh_losses
from tawt.weighting.held_target import HeldTarget
from tawt.weights import known_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor

    from tawt.hypergradient import LossOf
    from tawt.ranks import Ranks
    from tawt.weighting.rule import TargetShare
    from tawt.weights import Initial


class ExcessLoss(HeldTarget):
    """Raise the weights of sources on which the model is worse than a reference model.

        λ_t = max(0, L_t − reference_t)
        α ← (1 − c) · α exp(η λ) / Σ α exp(η λ) + c / k

    This is the update of DoReMi (Xie et al. 2023, "Optimizing Data Mixtures Speeds Up Language
    Model Pretraining"). What differs: λ_t is the excess of a source's mean loss on fresh batches,
    where the paper clips the excess of every token at zero before it takes the mean; and the model
    that is trained is the one whose weights move. `average()` are the weights that the paper hands
    to a larger model.

    The target plays no part in it. In joint training its share is held.

    Args:
        sources: Names of the source tasks, in a list.
        reference: Mean loss of a reference model on each source; the same loss that `loss_of`
            returns.
        target: The target; only needed with `target_share`.
        target_share: The share it is held at in joint training, or `None`.
        initial: "uniform" as in the paper, "proportional" (needs `sizes`), or a mapping.
        sizes: Number of training examples of each task that is weighed.
        step_size: η.
        smoothing: c, the share that the uniform weights have after each update.

    Example:
        >>> from torch import nn
        >>> model = nn.Linear(1, 1)
        >>> losses = {"news": 3.0, "code": 2.0}
        >>> weights = ExcessLoss(sources=["news", "code"], reference={"news": 2.0, "code": 2.5})
        >>> update = weights.update(model, loss_of=lambda task: torch.tensor(losses[task]))
        >>> update.alignments, weights
        ({'news': 1.0, 'code': 0.0}, ExcessLoss(news=0.731, code=0.269))
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        reference: Mapping[str, float],
        target: str | Mapping[str, float] | None = None,
        target_share: TargetShare | None = None,
        initial: Initial = "uniform",
        sizes: Mapping[str, int] | None = None,
        step_size: float = 1.0,
        smoothing: float = 1e-3,
    ) -> None:
        super().__init__(
            sources=sources, target=target, target_share=target_share, initial=initial, sizes=sizes
        )
        self.reference = _checked_reference(reference, self.sources)
        if not (is_number(step_size) and step_size > 0):
            raise ConfigError(f"`step_size` (η) must be positive and finite; got {step_size!r}.")
        if not (is_number(smoothing) and 0 <= smoothing < 1):
            raise ConfigError(
                f"`smoothing` (c) must be a number of at least 0 and below 1; got {smoothing!r}."
            )
        self.step_size = float(step_size)
        self.smoothing = float(smoothing)

    @property
    def rule(self) -> object:
        """η, c and the reference."""
        return self.step_size, self.smoothing, self.reference

    def _measured(
        self, parameters: Sequence[Tensor], *, loss_of: LossOf, ranks: Ranks
    ) -> Hypergradient:
        losses = fresh_losses(self.sources, loss_of=loss_of, ranks=ranks)
        # In this order, so that NaN stays NaN.
        excess = {name: max(loss - self.reference[name], 0.0) for name, loss in losses.items()}
        values = torch.zeros_like(self.weights.logs)
        values[: len(excess)] = torch.tensor(list(excess.values()), dtype=values.dtype)
        return Hypergradient(
            units=self.weights.units,
            targets=tuple(self.target),
            alignments=values,
            measured=torch.arange(len(values)) < len(excess),
            means=excess,
            norms={},
            target_norm=math.nan,  # no gradient is taken
            losses=losses,
            scale=1.0,
        )

    def _problem(self, measured: Hypergradient) -> str | None:
        culprits = [repr(name) for name, loss in measured.losses.items() if not math.isfinite(loss)]
        return f"a loss is not finite: {', '.join(culprits)}" if culprits else None

    def _moved(self, logs: Tensor, measured: Hypergradient) -> Tensor:
        excess = measured.alignments[: len(logs)]
        return mixed(
            simplex.mirror_step(logs, -excess, step_size=self.step_size), share=self.smoothing
        )


def mixed(log_weights: Tensor, *, share: float) -> Tensor:
    """Weights of which this share is taken and spread evenly; in logarithms.

    A weight of exactly zero means that its unit was left out on purpose: it stays zero.

    Example:
        >>> mixed(torch.tensor([0.9, 0.1]).log(), share=0.5).exp()
        tensor([0.7000, 0.3000])
    """
    if share == 0:
        return log_weights
    present = log_weights > -math.inf
    even = log_weights.new_tensor(math.log(share) - math.log(int(present.sum())))
    return torch.where(
        present, torch.logaddexp(log_weights + math.log1p(-share), even), log_weights
    )


def _checked_reference(reference: Mapping[str, float], sources: Sequence[str]) -> dict[str, float]:
    known_names(reference, sources, what="`reference` losses")
    for name, loss in reference.items():
        if not is_number(loss):
            raise WeightsError(
                f"The reference loss of {name!r} must be a finite number; got {loss!r}."
            )
    return {name: float(reference[name]) for name in sources}
