"""What goes into layers during a forward pass, and where what comes out stands in the graph."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


@dataclass(frozen=True)
class Call:
    """One run of a layer."""

    inputs: Tensor
    output: GradientEdge
    """Before anything is written over it in place."""
    rows: int
    """First dimension of the output."""

    def is_by_example(self, examples: int) -> bool:
        """Whether the first dimension can be the example."""
        return self.rows == examples and len(self.inputs) == examples

    def is_for_all(self, examples: int) -> bool:
        """Whether it is the look-up of a table for all examples at once."""
        ids = self.inputs
        return not self.is_by_example(examples) and (ids.dim() == 1 or len(ids) == 1)


Calls = dict[nn.Module, list[Call]]


@contextmanager
def recorded(
    layers: Collection[nn.Module], *, for_each: Collection[nn.Module] = (), examples: int = 1
) -> Iterator[Calls]:
    """The calls of these layers while it is open.

    Args:
        layers: Which to record.
        for_each: Tables among them that are looked up once for all examples; what comes out is
            repeated for each, without a copy, so that the gradients are each example's own.
        examples: How many there are.

    Example:
        >>> import torch
        >>> layer = nn.Linear(3, 2)
        >>> with recorded([layer]) as calls:
        ...     _ = layer(torch.ones(4, 3))
        >>> [call.rows for call in calls[layer]]
        [4]
    """
    calls: Calls = defaultdict(list)

    def note(layer: nn.Module, given: tuple[Any, ...], named: dict[str, Any], output: Any) -> Any:
        inputs = given[0] if given else named.get("input")
        if not isinstance(inputs, Tensor) or not isinstance(output, Tensor):
            return output
        if layer in for_each:
            inputs, output = (_repeated(each, inputs.dim(), examples) for each in (inputs, output))
        if output.requires_grad and output.dim() > 0 and inputs.dim() > 0:
            calls[layer].append(Call(inputs.detach(), get_gradient_edge(output), len(output)))
        return output

    handles = [layer.register_forward_hook(note, with_kwargs=True) for layer in layers]
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()


def _repeated(values: Tensor, dimensions: int, examples: int) -> Tensor:
    """Ids `(positions,)` or `(1, positions)`, or what comes out for them, for each example."""
    single = values.unsqueeze(0) if dimensions == 1 else values
    return single.expand(examples, *single.shape[1:])
