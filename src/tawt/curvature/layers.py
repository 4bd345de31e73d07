"""What goes into and comes back to each linear layer while a loss is computed.

The loss is a closure of the caller's, and which modules it runs is not known. So calls are watched
instead of modules: inside a `Watch`, every `F.linear` and `F.conv2d` with one of the parameters is
noted, whoever makes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor
from torch.overrides import TorchFunctionMode

from tawt.gradients import width

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tawt.curvature.labels import OwnLabels


@dataclass
class Use:
    """One call of a layer: y = W a + b for every example n and place s in it."""

    weight: Tensor
    bias: Tensor | None
    inputs: Tensor
    """a, shape `(examples, places, in)`."""
    gradients: Tensor | None = None
    """∂loss/∂y, shape `(examples, places, out)`, once the loss has been differentiated."""


class Watch(TorchFunctionMode):
    """Notes the layers that are called, and lets labels be exchanged on the way.

    Args:
        parameters: Only layers with one of these count.
        labels: Computes known losses with other labels; none leaves them as they are.
    """

    def __init__(self, parameters: Sequence[Tensor], *, labels: OwnLabels | None) -> None:
        super().__init__()
        self._wanted = {id(parameter) for parameter in parameters}
        self._labels = labels
        self.uses: list[Use] = []
        self.by_root = False
        """Whether a gradient came back through a loss with other labels, whose terms count by
        their root."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call the function, and note it if it is a layer's."""
        kwargs = kwargs or {}
        loss = None if self._labels is None else self._labels.loss(func, args, kwargs)
        if loss is not None:
            loss.register_hook(self._through_the_loss)  # type: ignore[no-untyped-call]
            return loss
        output = func(*args, **kwargs)
        reader = _LAYERS.get(func)
        if reader is not None and isinstance(output, Tensor) and output.requires_grad:
            self._note(reader(*args, **kwargs), output)
        return output

    def _through_the_loss(self, _: Tensor) -> None:
        self.by_root = True

    def _note(self, use: Use | None, output: Tensor) -> None:
        if use is None or not {id(use.weight), id(use.bias)} & self._wanted:
            return
        by_place = output.dim() == 4 and use.weight.dim() == 4

        def take(gradient: Tensor) -> None:
            rows = gradient.flatten(2).mT if by_place else _rows(gradient)
            use.gradients = rows.detach().to(width(rows))

        output.register_hook(take)  # type: ignore[no-untyped-call]
        self.uses.append(use)


def _rows(tensor: Tensor) -> Tensor:
    """As `(examples, places, features)`."""
    return tensor.reshape(len(tensor) if tensor.dim() > 1 else 1, -1, tensor.shape[-1])


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Use:  # noqa: A002
    return Use(weight, bias, _rows(input.detach().to(width(input))))


def _conv2d(
    input: Tensor,  # noqa: A002
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | str | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
) -> Use | None:
    """A linear layer on patches; none where patches are not all of the channels."""
    if groups != 1 or isinstance(padding, str) or input.dim() != 4:
        return None
    patches = F.unfold(
        input.detach().to(width(input)),
        weight.shape[2:],
        dilation=dilation,
        padding=padding,
        stride=stride,
    )
    return Use(weight, bias, patches.mT)


_LAYERS: dict[Callable[..., Any], Callable[..., Use | None]] = {
    F.linear: _linear,
    torch.conv2d: _conv2d,
}
