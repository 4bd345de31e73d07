"""A fitted head on top of a representation, to differentiate through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor, nn

if TYPE_CHECKING:
    from tawt.probes.probe import Probe
    from tawt.tasks import Batch, Kind


_UNKNOWN = -1


@dataclass(frozen=True)
class LinearHead:
    """A probe, in the representation's own precision and on its device.

    Args:
        weight: Shape `(outputs, width)`.
        bias: Shape `(outputs,)`.
        variance: What squared errors are divided by, for regression.
        is_regression: Whether outputs are numbers and not logits.
        seen: Which outputs the head was fitted for; items of other labels are left out.
    """

    weight: Tensor
    bias: Tensor
    variance: float
    is_regression: bool
    seen: Tensor

    @classmethod
    def of(cls, probe: Probe, *, like: Tensor) -> LinearHead:
        """The same function of vectors as the probe's."""
        weight = probe.weight / probe.spread
        bias = probe.bias - weight @ probe.centre
        return cls(
            weight.to(like),
            bias.to(like),
            probe.variance,
            probe.is_regression,
            probe.seen.to(like.device),
        )

    def outputs(self, vectors: Tensor) -> Tensor:
        """Logits or predictions, shape `(items, outputs)`."""
        return F.linear(vectors, self.weight, self.bias)

    def loss(self, representation: nn.Module, kind: Kind, batch: Batch) -> Tensor:
        """Mean loss over the batch's items."""
        vectors, labels = kind.items(representation(batch.inputs), batch.labels)
        counted = len(labels) if self.is_regression else max(1, int(self._known(labels).sum()))
        return self.losses(vectors, labels).sum() / counted

    def losses(self, vectors: Tensor, labels: Tensor) -> Tensor:
        """The loss of every item; of one whose label the head was not fitted for, zero."""
        outputs = self.outputs(vectors)
        if self.is_regression:
            return (outputs[:, 0] - labels.to(outputs)).square() / (2 * self.variance)
        known = self._known(labels)
        answers = labels.long().masked_fill(~known, _UNKNOWN)
        return F.cross_entropy(outputs, answers, ignore_index=_UNKNOWN, reduction="none")

    def _known(self, labels: Tensor) -> Tensor:
        """Items whose label the head was fitted for; at others it could only guess."""
        inside = labels < len(self.seen)
        return inside & self.seen[labels.clamp(max=len(self.seen) - 1).long()]

    def curved(self, outputs: Tensor, along: Tensor) -> Tensor:
        """The loss's Hessian by the outputs, times a direction of outputs, item by item.

        Example:
            >>> import torch
            >>> head = LinearHead(torch.eye(2), torch.zeros(2), 1.0, False, torch.ones(2) > 0)
            >>> head.curved(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
            tensor([[ 0.2500, -0.2500]])
        """
        if self.is_regression:
            return along / self.variance
        p = outputs.softmax(-1)
        return p * along - p * (p * along).sum(-1, keepdim=True)
