"""What an update measures by, if anything can be measured by it, and how it leaves no trace."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tawt.given import modules_of
from tawt.gradients import trainable, untouched
from tawt.ranks import check_parameters, reshard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tawt.ranks import Ranks


def measurable(
    representation: nn.Module | Iterable[Tensor], touching: Iterable[nn.Module], ranks: Ranks
) -> tuple[list[Tensor], list[nn.Module]]:
    """Parameters and modules of an update; none where this process fails and others go on.

    Args:
        representation: The module that the tasks share, or its parameters.
        touching: Other modules that losses run through.
        ranks: The processes that measure together, which fail together.

    Raises:
        TrainingError: They are none, or kept in a form in which nothing can be measured.

    Example:
        >>> from tawt.ranks import Ranks
        >>> alone = Ranks.of(None)
        >>> parameters, modules = measurable(nn.Linear(2, 2), [nn.Dropout()], alone)
        >>> len(parameters), len(modules)
        (2, 2)
    """
    nothing: tuple[list[Tensor], list[nn.Module]] = [], []
    return ranks.attempt(lambda: _checked(representation, touching), nothing)


@contextmanager
def measuring(parameters: Sequence[Tensor], modules: Sequence[nn.Module]) -> Iterator[None]:
    """Gradients can be taken inside, and nothing of it is left outside."""
    # Inference mode is stronger than no_grad, and enable_grad alone would not lift it.
    with (
        untouched(modules, parameters=parameters),
        torch.inference_mode(mode=False),
        torch.enable_grad(),
    ):
        yield


def _checked(
    representation: nn.Module | Iterable[Tensor], touching: Iterable[nn.Module]
) -> tuple[list[Tensor], list[nn.Module]]:
    modules = modules_of(touching)
    if isinstance(representation, nn.Module):
        modules.append(representation)
    reshard(modules)
    parameters = trainable(representation)
    check_parameters(parameters)
    return parameters, modules
