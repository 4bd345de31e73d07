"""The device and precision to train in, and moving batches there."""

from __future__ import annotations

import logging
import os
from typing import Any, Literal

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, is_initialized
from accelerate.tracking import get_available_trackers
from accelerate.utils import DistributedDataParallelKwargs, recursively_apply, send_to_device
from torch import Tensor

from tawt.errors import ConfigError
from tawt.launch import Launch, this_launch
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
    wanted = wanted_device(device)
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


def wanted_device(device: str) -> torch.device | None:
    """The device to ask Accelerate for; none leaves the choice to it.

    Args:
        device: As in `accelerator_for`.
    """
    launch = this_launch()
    if launch.is_one_of_several:
        return device_together(device, launch, gpus=_gpus())
    return None if device == "auto" else chosen_device(device)


def device_together(device: str, launch: Launch, *, gpus: int) -> torch.device | None:
    """The device to ask for where several processes train together, each on one of its own.

    Args:
        device: What the user wants.
        launch: Which of the processes this is.
        gpus: How many GPUs this machine has.

    Returns:
        The CPU; or none, for the GPU of the process's own number.

    Raises:
        ConfigError: There are too few GPUs, or one was named.

    Example:
        >>> two = Launch(processes=2, processes_here=2)
        >>> device_together("auto", two, gpus=0), device_together("cuda", two, gpus=2)
        (device(type='cpu'), None)
    """
    if device == "cpu" or (device == "auto" and gpus == 0):
        return torch.device("cpu")
    if device not in ("auto", "cuda"):
        raise ConfigError(
            f"--device {device} names one device, and {launch.processes} processes train together; "
            "leave it out, and each takes a GPU of its own, or give cpu."
        )
    if launch.processes_here > gpus:
        raise ConfigError(
            f"{launch.processes_here} processes were started on this machine, which has {gpus} "
            "GPUs, and each needs its own; start as many as there are GPUs, or give --device cpu."
        )
    return None


def gpus_to_spread_over(device: str, *, visible: list[str]) -> list[str]:
    """The GPUs that runs which are made side by side can be spread over.

    Args:
        device: What the user wants.
        visible: As `visible_gpus` names them.

    Example:
        >>> [gpus_to_spread_over(name, visible=["0", "1"]) for name in ("auto", "cuda:1", "cpu")]
        [['0', '1'], [], []]
    """
    return visible if device in ("auto", "cuda") and len(visible) > 1 else []


def visible_gpus() -> list[str]:
    """The GPUs that this process may use, by the names that `CUDA_VISIBLE_DEVICES` takes."""
    count = _gpus()
    named = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    return named[:count] if named != [""] else [str(number) for number in range(count)]


def _gpus() -> int:
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


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
    available = _gpus()
    if name == "auto":
        return torch.device("cuda" if available else "cpu")
    kind, colon, number = name.partition(":")
    if name != "cpu" and (kind != "cuda" or (colon and not number.isdecimal())):
        raise ConfigError(f"A device is auto, cpu, cuda or cuda:N; got {name!r}.")
    if kind == "cuda" and int(number or 0) >= available:
        there = f"there are {available}, counted from 0" if available else "there is none here"
        raise ConfigError(f"There is no CUDA device {name!r}: {there}; use auto, or cpu.")
    return torch.device(name)


def device_name(device: torch.device) -> str:
    """What the device is called: a GPU by its maker, others by their kind.

    Example:
        >>> device_name(torch.device("cpu"))
        'cpu'
    """
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


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
