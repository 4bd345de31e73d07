"""What is written down about a run besides its scores."""

from __future__ import annotations

import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from tawt.version import __version__

_PACKAGES = (
    *("torch", "numpy", "accelerate", "safetensors", "scikit-learn", "scipy"),
    *("transformers", "tokenizers"),
)


def circumstances(device: torch.device, *, processes: int = 1) -> dict[str, Any]:
    """Versions, and the kind of machine; no names of hosts, users or folders.

    Args:
        device: Where a process trained.
        processes: How many trained together.

    Example:
        >>> sorted(circumstances(torch.device("cpu")))
        ['commit', 'machine', 'versions']
    """
    found = {name: _version(name) for name in _PACKAGES}
    versions = {name: version for name, version in found.items() if version is not None}
    machine = {
        "system": platform.system(),
        "architecture": platform.machine(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "threads": torch.get_num_threads(),
        "processes": processes,
    }
    versions = {"tawt": __version__, "python": platform.python_version(), **versions}
    return {"versions": versions, "machine": machine, "commit": _commit()}


def _version(package: str) -> str | None:
    """None of a package that the kind of data did not need, so that nobody installed it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Of tawt itself, where it runs from a checkout."""
    here = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "-C", str(here), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None if found.returncode == 0 else None
