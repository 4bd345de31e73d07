"""How far each example's loss rises along a direction."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import torch
from torch import Tensor, nn

from tawt.errors import TrainingError, first_line, is_out_of_memory
from tawt.per_example.conditions import at_rest
from tawt.per_example.differences import Differences
from tawt.per_example.forward_mode import ForwardMode
from tawt.per_example.mixed import MixedPrecision
from tawt.per_example.swapping import Swap, check_inside, run_with

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tawt.gradients import Gradient
    from tawt.per_example.losses import Losses

_log = logging.getLogger(__name__)

Way = Literal["auto", "forward", "mixed", "differences"]
"""How products are computed; "auto" is forward mode, and differences where that is impossible."""


class _Products(Protocol):
    """One way to compute them."""

    @property
    def relative_error(self) -> float | None: ...
    def __call__(self, losses: Losses) -> Tensor: ...
    def look_again(self) -> None: ...


_WAYS: dict[Way, Callable[[nn.Module, Sequence[Swap]], _Products]] = {
    "auto": ForwardMode,
    "forward": ForwardMode,
    "mixed": MixedPrecision,
    "differences": Differences,
}


class ExampleProducts:
    """⟨v, ∇ℓ_i⟩ for every example of a batch, v one direction over the representation's parameters.

    The model is run in evaluation mode, whatever mode it is in, and autocast around the call has
    no effect; modes, buffers, random streams, parameters and `.grad` are left as they were.
    Parameters narrower than float32 are run in float32.

    Args:
        module: All that `losses` runs, representation and heads.
        parameters: Those that the direction is over, the module's own.
        direction: v, an entry per parameter; `None` is zero.
        way: "forward" is exact; "mixed" is the same with matrix products in bfloat16, much faster
            where the machine has those; "differences" takes two forward passes and has no need
            that operators can be differentiated forwards; "auto" is forward where it works.

    Raises:
        TrainingError: Parameters are not the module's, the direction does not fit them, `losses`
            does not return one loss per example, or forward mode, mixed or not, was demanded and
            is impossible.

    Example:
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> inputs = torch.tensor([[5.0, 2.0], [0.0, 1.0]])
        >>> products = ExampleProducts(layer, [layer.weight], [torch.tensor([[1.0, -1.0]])])
        >>> products(lambda: layer(inputs).squeeze(1)), products.way
        (tensor([ 3., -1.]), 'forward')
    """

    def __init__(
        self,
        module: nn.Module,
        parameters: Sequence[Tensor],
        direction: Gradient,
        *,
        way: Way = "auto",
    ) -> None:
        if way not in get_args(Way):
            known = ", ".join(get_args(Way))
            raise TrainingError(f"`way` must be one of {known}; got {way!r}.")
        check_inside(module, parameters)
        self.way: Way = way
        """The way in use: "forward", "mixed" or "differences", once known."""
        self._chosen = way
        self._module = module
        self._moves = _moves(parameters, direction)
        self._by = _WAYS[way](module, self._moves)

    @property
    def relative_error(self) -> float | None:
        """Of differences and mixed precision, by the norm of the products, in the worst task.

        An estimate from each task's first batch. None for forward mode, which is exact, and as
        long as no batch's losses have moved.
        """
        return self._by.relative_error

    def __call__(self, losses: Losses) -> Tensor:
        """The products of one batch.

        Args:
            losses: Runs the model on the batch; the same at every call.

        Returns:
            Shape `(examples,)`, detached, in float32 or float64.
        """
        if not self._moves:
            return self._nothing(losses)
        if self.way == "differences":
            return self._by(losses)
        try:
            products = self._by(losses)
        except RuntimeError as error:  # of which `NotImplementedError` is one
            self._check_may_go_on(error)
            differences = Differences(self._module, self._moves)
            products = differences(losses)
            # Had it been the caller's own mistake, differences would have met it too.
            _log.info("No forward mode here, so products by differences: %s", first_line(error))
            self._by, self.way = differences, "differences"
            return products
        if self.way == "auto":
            self.way = "forward"
        return products

    def look_again(self) -> None:
        """Examples of another task follow: a step size, or an error, is to be found anew."""
        self._by.look_again()

    def _nothing(self, losses: Losses) -> Tensor:
        with torch.no_grad(), at_rest(self._module):
            return torch.zeros_like(run_with(self._module, [], losses))

    def _check_may_go_on(self, error: Exception) -> None:
        if is_out_of_memory(error):
            raise error
        if self._chosen != "auto" and isinstance(error, NotImplementedError):
            raise TrainingError(
                f"An operator of the model has no forward mode ({first_line(error)}) "
                'Take `way="differences"`, or "auto", which falls back to it.'
            ) from error
        if self._chosen != "auto":
            raise error


def _moves(parameters: Sequence[Tensor], direction: Gradient) -> list[Swap]:
    """The parameters that the direction moves, with how."""
    shapes = [None if entry is None else entry.shape for entry in direction]
    fits = len(shapes) == len(parameters) and all(
        shape is None or shape == parameter.shape
        for parameter, shape in zip(parameters, shapes, strict=True)
    )
    if not fits:
        raise TrainingError(
            "`direction` must have one entry per parameter, of its shape or None; got "
            f"{len(direction)} for {len(parameters)} parameters."
        )
    return [
        (parameter, entry.detach())
        for parameter, entry in zip(parameters, direction, strict=True)
        if entry is not None
    ]
