"""What kind of machine a report comes from: enough to compare, nothing that identifies it."""

from __future__ import annotations

import os
import platform
import re

import torch

import tawt


def kind(device: torch.device) -> str:
    """Short name for a file: "cpu", or the GPU's name."""
    if device.type == "cpu":
        return "cpu"
    return re.sub(r"[^a-z0-9]+", "-", torch.cuda.get_device_name(device).lower()).strip("-")


def description(device: torch.device) -> dict[str, str | int]:
    """Hardware and versions."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    one_thread = device.type == "cpu" and torch.get_num_threads() == 1
    described: dict[str, str | int] = {
        "device": device.type,
        "architecture": platform.machine(),
        "cpu cores": cores or 0,
        "torch threads": torch.get_num_threads(),
        "clock": "work of this process" if one_thread else "wall",
        "torch": torch.__version__,
        "python": platform.python_version(),
        "tawt": tawt.__version__,
    }
    if device.type == "cuda":
        described["gpu"] = torch.cuda.get_device_name(device)
    return described
