"""The device and precision to train in, and moving batches there."""

from __future__ import annotations

import logging
from typing import Any, Literal

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, is_initialized
from accelerate.tracking import get_available_trackers
from accelerate.utils import (
    DistributedDataParallelKwargs,
    broadcast,
    recursively_apply,
    send_to_device,
)
from torch import Tensor

from tawt.errors import ConfigError
from tawt.tasks import Batch

_log = logging.getLogger(__name__)


def accelerator_for(
    precision: Literal["fp32", "bf16"],
    *,
    device: str = "auto",
    log_with: str | None = None,
    log_folder: str | None = None,
) -> Accelerator:
    """Accelerate's handle on the devices; one precision can follow another in a process.

    Args:
        precision: "bf16" falls back to "fp32", with a warning, where the GPU has none.
        device: "auto" (the fastest there is), "cpu", "cuda" or "cuda:N".
        log_with: Name of an experiment tracker, such as "tensorboard".
        log_folder: Where trackers write.
    """
    if precision == "bf16" and torch.cuda.is_available() and not torch.cuda.is_bf16_supported():
        _log.warning("this GPU has no bf16; training in fp32")
        precision = "fp32"
    known = [str(tracker.value) for tracker in get_available_trackers()]
    if log_with is not None and log_with not in known:
        raise ConfigError(
            f"There is no experiment tracker {log_with!r} here; installed: "
            f"{', '.join(known) or 'none'}. `pip install tawt[tensorboard]` brings one."
        )
    mixed = "bf16" if precision == "bf16" else "no"
    wanted = None if device == "auto" else chosen_device(device)
    if wanted is not None and wanted.type == "cuda":
        torch.cuda.set_device(wanted.index or 0)
    # Accelerate keeps the first precision and device of a process; a second run may want others.
    if is_initialized() and (
        AcceleratorState().mixed_precision != mixed
        or (wanted is not None and AcceleratorState().device.type != wanted.type)
    ):
        AcceleratorState._reset_state(reset_partial_state=wanted is not None)
    return Accelerator(
        cpu=wanted is not None and wanted.type == "cpu",
        mixed_precision=mixed,
        log_with=log_with,
        project_dir=log_folder,
        # A step trains one task, so the heads of the others have no gradient.
        kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
    )


def chosen_device(name: str) -> torch.device:
    """The device by its name.

    Args:
        name: "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".

    Raises:
        ConfigError: There is no such device here.

    Example:
        >>> chosen_device("cpu")
        device(type='cpu')
    """
    available = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        return torch.device("cuda" if available else "cpu")
    kind, colon, number = name.partition(":")
    if name != "cpu" and (kind != "cuda" or (colon and not number.isdecimal())):
        raise ConfigError(f"A device is auto, cpu, cuda or cuda:N; got {name!r}.")
    if kind == "cuda" and int(number or 0) >= available:
        there = f"there are {available}, counted from 0" if available else "there is none here"
        raise ConfigError(f"There is no CUDA device {name!r}: {there}; use auto, or cpu.")
    return torch.device(name)


def number_of(device: torch.device) -> int:
    """Which of several GPUs; the current one where the device does not say."""
    return torch.cuda.current_device() if device.index is None else device.index


def moved(nest: Any, device: torch.device) -> Any:
    """A nest of tensors, on that device.

    Example:
        >>> moved({"ids": torch.ones(1)}, torch.device("cpu"))["ids"].device.type
        'cpu'
    """
    if device.type == "mps":  # which has no float64
        nest = recursively_apply(lambda t: t.float() if t.dtype == torch.float64 else t, nest)
    return send_to_device(nest, device, non_blocking=True)


def to_device(batch: Batch, device: torch.device) -> Batch:
    """The batch on that device; inputs and labels may be tensors, or nests of them.

    Example:
        >>> placed = to_device(Batch({"ids": torch.ones(1)}, torch.ones(1)), torch.device("cpu"))
        >>> placed.inputs["ids"].device.type
        'cpu'
    """
    parts = batch.inputs, batch.labels, batch.owners, batch.factors
    return Batch(*moved(parts, device))


def anywhere(flag: Tensor, accelerator: Accelerator) -> Tensor:
    """Whether it is so in any process: all must skip a step, or none."""
    if accelerator.num_processes == 1:
        return flag
    counted: Tensor = accelerator.reduce(flag.float(), reduction="sum")
    return counted > 0


def as_in_the_first(values: Tensor, accelerator: Accelerator) -> Tensor:
    """What the first of several processes has; on the device where ours are.

    Example:
        >>> as_in_the_first(torch.ones(1), accelerator_for("fp32", device="cpu"))
        tensor([1.])
    """
    if accelerator.num_processes == 1:
        return values
    sent: Tensor = broadcast(values.to(accelerator.device, copy=True), from_process=0)
    return sent.to(values.device)
