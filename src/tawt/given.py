"""What callers give (names, sizes, modules, losses): what it must be, or an error says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping, Set

from torch import Tensor, nn

from tawt.errors import TrainingError, WeightsError, is_number


def names_of(given: Iterable[str], *, what: str) -> list[str]:
    """Names of tasks in their order, if that is what is given.

    Args:
        given: A list or a tuple, or a mapping by name.
        what: What they are called in an error.

    Example:
        >>> names_of(("pos", "chunk"), what="`sources`")
        ['pos', 'chunk']
    """
    if isinstance(given, str):
        raise WeightsError(f'{what} must be a list of names; write ["{given}"].')
    if isinstance(given, Set) and not isinstance(given, KeysView):
        raise WeightsError(
            f"{what} must be a list of names; got a set, whose order changes from one run to the "
            "next. Pass `sorted(names)`."
        )
    if isinstance(given, Iterator) or not isinstance(given, Iterable):
        raise WeightsError(
            f"{what} must be a list of names; got {type(given).__name__}. Pass `list(names)`."
        )
    names = list(given)
    for name in names:
        if not isinstance(name, str):
            raise WeightsError(
                f"{what} must be names of tasks, as text; got {name!r}, of type "
                f"{type(name).__name__}. Write {str(name)!r}."
            )
    return names


def check_sizes(sizes: Mapping[str, int]) -> None:
    """Refuse what is no number of examples.

    Example:
        >>> check_sizes({"pos": 0})
        Traceback (most recent call last):
        ...
        tawt.errors.WeightsError: Task 'pos' has size 0; sizes must be at least 1.
    """
    for name, size in sizes.items():
        if not is_number(size):
            raise WeightsError(f"Task {name!r} has size {size!r}; sizes must be whole numbers.")
        if size < 1:
            raise WeightsError(f"Task {name!r} has size {size}; sizes must be at least 1.")


def parameters_of(representation: nn.Module | Iterable[Tensor]) -> list[Tensor]:
    """The parameters of a module, or those in a list.

    Example:
        >>> len(parameters_of(nn.Linear(2, 2)))
        2
    """
    given: list[Tensor]
    if isinstance(representation, nn.Module):
        given = list(representation.parameters())
    elif isinstance(representation, Tensor):
        given = [representation]
    else:
        given = list(representation) if isinstance(representation, Iterable) else [representation]
    for parameter in given:
        if not isinstance(parameter, Tensor):
            raise TrainingError(
                "The representation must be a module or its parameters; got "
                f"{type(parameter).__name__} among them. Pass the module, or "
                "`module.parameters()` (not `named_parameters()`)."
            )
        if parameter.is_complex():
            raise TrainingError(
                f"The representation has a complex parameter (of shape {tuple(parameter.shape)}), "
                "and alignments are of real gradients. Keep it as its real and imaginary parts, "
                "with `torch.view_as_real`."
            )
    return given


def modules_of(touching: Iterable[nn.Module]) -> list[nn.Module]:
    """The modules in a list of them.

    Example:
        >>> len(modules_of([nn.Linear(1, 1), nn.Dropout()]))
        2
    """
    found = list(touching) if isinstance(touching, Iterable) else [None]
    if not all(isinstance(module, nn.Module) for module in found):
        raise TrainingError(
            f"`touching` must be a list of modules; got {type(touching).__name__}. Write "
            "`touching=[heads]`, with the module in a list."
        )
    return found


def scalar_loss(loss: Tensor, *, task: str | None = None) -> Tensor:
    """The loss, if it is one real number in a tensor.

    Args:
        loss: What a task's loss was given as.
        task: Whose it is, for the error.

    Raises:
        TrainingError: It is something else.

    Example:
        >>> import torch
        >>> scalar_loss(torch.tensor(0.5))
        tensor(0.5000)
    """
    whose = "A task's loss" if task is None else f"The loss of {task!r}"
    if not isinstance(loss, Tensor):
        raise TrainingError(
            f"{whose} must be a scalar tensor with its graph attached; got "
            f"{type(loss).__name__}. Return the loss itself: no dictionary around it, no `.item()`."
        )
    if loss.dim() != 0:
        raise TrainingError(
            f"{whose} must be a scalar (the mean over its examples); got shape "
            f"{tuple(loss.shape)}. Return `losses.mean()`."
        )
    if not loss.is_floating_point():
        raise TrainingError(
            f"{whose} must be a real, floating-point number; got {loss.dtype}. Return a loss that "
            "can be differentiated."
        )
    return loss


def check_differentiable(loss: Tensor) -> None:
    """Refuse a graph in which autograd would silently pass over some of the parameters.

    Reentrant activation checkpointing hides the parameters of its layers from
    `torch.autograd.grad`: they come out without a gradient, or with a part of it.

    Args:
        loss: With its graph attached.

    Raises:
        TrainingError: There is a reentrant checkpoint in the graph.
    """
    seen = {loss.grad_fn}
    waiting = [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None:
            continue
        if "checkpoint" in node.name().lower():
            raise TrainingError(
                "The model uses reentrant activation checkpointing, which hides the gradients of "
                "its layers from a measurement. Call `checkpoint(…, use_reentrant=False)`; with "
                "Transformers, `model.gradient_checkpointing_enable({'use_reentrant': False})`."
            )
        for following, _ in node.next_functions:
            if following not in seen:
                seen.add(following)
                waiting.append(following)
