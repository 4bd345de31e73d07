"""What callers give (names, sizes, modules, losses): what it must be, or an error says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping, Set

import torch
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


def counted_loss(given: object, *, task: str) -> tuple[Tensor, float | None]:
    """A task's loss, and how many examples it is the mean of, where that was given with it.

    Args:
        given: A scalar tensor, or a pair of one and a number of examples.
        task: Whose it is, for errors.

    Example:
        >>> import torch
        >>> counted_loss((torch.tensor(0.5), 32), task="pos")
        (tensor(0.5000), 32.0)
    """
    if not isinstance(given, tuple) or len(given) != 2:
        return scalar_loss(given, task=task), None  # type: ignore[arg-type]  # refused there
    loss, examples = given
    if isinstance(examples, Tensor) and examples.numel() == 1:
        examples = examples.item()
    if not (is_number(examples) and examples >= 0):
        raise TrainingError(
            f"The loss of {task!r} came with {examples!r} examples; return a scalar tensor, or "
            "the pair `(loss, examples)` with the number of examples it is the mean of."
        )
    if examples == 0 and not isinstance(loss, Tensor):
        loss = torch.zeros(())  # nothing to take a loss of
    return scalar_loss(loss, task=task), float(examples)


def check_differentiable(loss: Tensor) -> None:
    """Refuse a graph in which autograd would silently pass over some of the parameters.

    Reentrant activation checkpointing hides the parameters of its layers from
    `torch.autograd.grad`: they come out without a gradient, or with a part of it. And a
    DistributedDataParallel whose forward pass was made outside of a measurement waits for a
    backward pass of its own.

    Args:
        loss: With its graph attached.

    Raises:
        TrainingError: There is one of these in the graph.
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
        if "DDPSink" in node.name() and _waits(node):
            raise TrainingError(
                "A loss was computed through a DistributedDataParallel before `update` asked for "
                "it, and the wrapper now waits for a backward pass. Compute the loss inside "
                "`loss_of`, or through `model.module`."
            )
        for following, _ in node.next_functions:
            if following not in seen:
                seen.add(following)
                waiting.append(following)


def _waits(node: object) -> bool:
    """Whether the wrapper of DDP's node in a graph waits for gradients; at rest it does not."""
    wrapper = getattr(node, "ddp_weakref", lambda: None)()
    return bool(getattr(wrapper, "require_backward_grad_sync", False))
