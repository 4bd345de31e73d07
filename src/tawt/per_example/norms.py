"""How long each example's gradient is."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

from tawt.errors import TrainingError
from tawt.per_example.each import Each
from tawt.per_example.ghost import Ghost
from tawt.per_example.swapping import check_inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn

    from tawt.per_example.losses import Losses

_log = logging.getLogger(__name__)

Way = Literal["auto", "each", "ghost"]
"""How norms are computed; "auto" is "ghost" for all parameters it can do, "each" for the others."""


class ExampleNorms:
    """‖∇ℓ_i‖² for every example of a batch, by the parameters given.

    The model is run and left as `ExampleProducts` does.

    Args:
        module: All that `losses` runs, representation and heads.
        parameters: What the gradients are by, the module's own.
        way: "ghost" is one forward and one backward pass, for linear layers, tables, convolutions
            and norms that are run once a batch with the example as the first dimension; "each" is
            a backward pass per example, several at once, for any model; "auto" takes for every
            parameter the first that does.

    Raises:
        TrainingError: Parameters are not the module's, `losses` does not return one loss per
            example, or "ghost" was demanded and does not cover every parameter.

    Example:
        >>> import torch
        >>> layer = torch.nn.Linear(2, 1, bias=False)
        >>> inputs = torch.tensor([[3.0, 4.0], [0.0, 1.0]])
        >>> ExampleNorms(layer, [layer.weight])(lambda: layer(inputs).squeeze(1))
        tensor([25.,  1.])
    """

    def __init__(
        self, module: nn.Module, parameters: Sequence[Tensor], *, way: Way = "auto"
    ) -> None:
        if way not in ("auto", "each", "ghost"):
            raise TrainingError(f'`way` must be "auto", "each" or "ghost"; got {way!r}.')
        check_inside(module, parameters)
        self._module = module
        self._parameters = parameters
        self._way = way
        self._ghost = Ghost(module, parameters if way != "each" else [])
        self._each = Each(module, parameters)
        self._rest = list(parameters)

    @property
    def one_by_one(self) -> bool:
        """Whether some parameters take a backward pass per example; large batches then cost more.

        Before the first batch, as far as the kinds of layers tell.
        """
        return len(self._ghost.covered) < len(self._parameters)

    def __call__(self, losses: Losses) -> Tensor:
        """The squared norms of one batch.

        Args:
            losses: Runs the model on the batch; the same at every call.

        Returns:
            Shape `(examples,)`, detached, in float32 or float64.
        """
        if not self._ghost.covered:
            self._settle()
            return self._each(losses)
        squares = self._ghost(losses)
        self._settle()
        return squares + self._each(losses) if self._rest else squares

    def _settle(self) -> None:
        """Who does what, after the batch has shown it."""
        covered = {id(parameter) for parameter in self._ghost.covered}
        rest = [parameter for parameter in self._parameters if id(parameter) not in covered]
        if rest and self._way == "ghost":
            raise TrainingError(
                f"Norms of {self._named(rest)} cannot be had from their layers (which must be "
                "linear, embedding, convolution or norm, run once a batch, with the example as "
                'the first dimension). Take `way="auto"`, which differentiates those per example.'
            )
        if len(rest) != len(self._rest):
            self._rest = rest
            self._each = Each(self._module, rest)
            if rest:
                _log.info("Norms one example at a time for %s.", self._named(rest))

    def _named(self, parameters: Sequence[Tensor]) -> str:
        wanted = {id(parameter) for parameter in parameters}
        names = [name for name, own in self._module.named_parameters() if id(own) in wanted]
        return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
