"""What an update measures by: parameters and modules, if anything can be measured by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

from tawt.given import modules_of
from tawt.gradients import trainable
from tawt.ranks import check_parameters, reshard

if TYPE_CHECKING:
    from collections.abc import Iterable


def measurable(
    representation: nn.Module | Iterable[Tensor], touching: Iterable[nn.Module]
) -> tuple[list[Tensor], list[nn.Module]]:
    """Parameters and modules of an update.

    Args:
        representation: The module that the tasks share, or its parameters.
        touching: Other modules that losses run through.

    Raises:
        TrainingError: They are none, or kept in a form in which nothing can be measured.

    Example:
        >>> parameters, modules = measurable(nn.Linear(2, 2), [nn.Dropout()])
        >>> len(parameters), len(modules)
        (2, 2)
    """
    modules = modules_of(touching)
    if isinstance(representation, nn.Module):
        modules.append(representation)
    reshard(modules)
    parameters = trainable(representation)
    check_parameters(parameters)
    return parameters, modules
