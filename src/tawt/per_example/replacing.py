"""Other functions in the place of torch's own, wherever a model calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Sequence

Replacements = Mapping[Callable[..., Any], Callable[..., Any]]
"""A function of torch, and what is called in its place."""


class Replacing(TorchFunctionMode):
    """While it is on, calls of these functions are calls of others; in the others it is off.

    One for all: everything that is asked of a tensor goes through every mode that is on.

    Example:
        >>> import torch
        >>> with Replacing({torch.sin: torch.cos}):
        ...     torch.sin(torch.zeros(1))
        tensor([1.])
    """

    def __init__(self, instead: Replacements) -> None:
        super().__init__()
        self._instead = instead

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the function, or the other."""
        return self._instead.get(func, func)(*args, **(kwargs or {}))
