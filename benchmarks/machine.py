"""What kind of machine a report comes from: enough to compare, nothing that identifies it."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

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
        "processor": _processor(),
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


def _processor() -> str:
    """Its model, where the system tells."""
    told = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", told.read_text()) if told.exists() else None
    return found[1] if found else platform.processor() or "unknown"
