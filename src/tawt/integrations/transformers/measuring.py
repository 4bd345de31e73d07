"""The trainer's own loss on fresh batches, for an update of the weights."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tawt.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor, nn
    from transformers import Trainer

    from tawt.mixture import Mixture

_COUNTED = ("_metrics", "_total_train_tokens")
"""What TRL's `compute_loss` counts of every batch it sees, and its `log` reports."""


def fresh_losses(
    trainer: Trainer, fresh: Mixture, *, target_half: int | None = None
) -> Callable[[str], Any]:
    """`loss_of` for one update: from a task to the trainer's loss on a batch that is fresh.

    Nothing is exchanged between processes in it. Each has the mean over its own items (tokens, in
    a language model) and says how many they are, so that their mean is that of all.

    Args:
        trainer: Whose loss it is.
        fresh: Gives the batches.
        target_half: The half of the target's examples that they are of, if they are of one.
    """

    def loss_of(task: str) -> Any:
        batch, examples = batches.batch(task)
        loss, items = _loss(trainer, batch)
        counted = examples if items is None else items
        return loss if fresh.processes.count == 1 else (loss, counted)

    batches = fresh.fresh(lambda _, batch: _loss(trainer, batch)[0], target_half=target_half)
    return loss_of


def _loss(trainer: Trainer, batch: Any) -> tuple[Tensor, int | None]:
    """Of a batch, the mean over its items; and how many these are, if the trainer counts them."""
    inputs = trainer._prepare_inputs(batch)
    with _counted_alone(trainer), trainer.compute_loss_context_manager():
        items = items_in(trainer, inputs)
        loss: Any = trainer.compute_loss(trainer.model_wrapped, inputs, num_items_in_batch=items)
    return loss, None if items is None else int(items)


def items_in(trainer: Trainer, batch: Any) -> Any:
    """How many items a batch has, as the trainer counts them; None if it does not."""
    _, items = trainer.get_batch_samples(iter([batch]), 1, trainer.args.device)
    return items


@contextmanager
def _counted_alone(trainer: Trainer) -> Iterator[None]:
    """Let losses be means over the items of this process, without asking the others."""
    before = trainer.args.average_tokens_across_devices
    trainer.args.average_tokens_across_devices = False
    try:
        yield
    finally:
        trainer.args.average_tokens_across_devices = before


@contextmanager
def uncounted(trainer: Trainer) -> Iterator[None]:
    """Leave what the trainer counts of its training batches as it is."""
    counted = {name: getattr(trainer, name) for name in _COUNTED if hasattr(trainer, name)}
    for name, value in counted.items():
        setattr(trainer, name, _emptied(value))
    try:
        yield
    finally:
        for name, value in counted.items():
            setattr(trainer, name, value)


def _emptied(counted: Any) -> Any:
    """Counts of the same kind, by mode, with nothing in them."""
    if not isinstance(counted, dict):
        return counted
    found = {mode: copy.copy(values) for mode, values in counted.items()}
    for values in found.values():
        values.clear()
    return found


def representation_of(model: nn.Module, given: nn.Module | str | None) -> nn.Module:
    """What gradients are taken of: the whole model, or a part of it.

    Example:
        >>> from torch import nn
        >>> model = nn.ModuleDict({"encoder": nn.Linear(2, 2), "head": nn.Linear(2, 1)})
        >>> representation_of(model, "encoder")
        Linear(in_features=2, out_features=2, bias=True)
        >>> representation_of(model, "encodr")
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: `representation` names no module of the model: 'encodr'. Its \
modules: encoder, head.
    """
    if given is None:
        return model
    if not isinstance(given, str):
        return given
    try:
        return model.get_submodule(given)
    except AttributeError as error:
        names = ", ".join(name for name, _ in model.named_children())
        raise ConfigError(
            f"`representation` names no module of the model: {given!r}. Its modules: {names}."
        ) from error
