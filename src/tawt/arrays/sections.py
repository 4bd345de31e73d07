"""The sections of a configuration that are about arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from tawt.modality import DataSection, Section


class ArrayTask(Section):
    """One task in `.npz` files, each with arrays `inputs` and `labels`."""

    kind: Literal["classification", "regression"] = "classification"
    """What is predicted: one of several labels, or a number."""
    train: Path
    """Examples to train on."""
    dev: Path | None = None
    """Examples to choose by."""
    test: Path | None = None
    """Examples to report on."""
    labels: list[str] | None = None
    """Names of the labels; 0, 1, … by default."""


class ArrayData(DataSection):
    """Tasks from NumPy files; paths are relative to the configuration."""

    kind: Literal["arrays"]
    tasks: dict[str, ArrayTask]
    """By name: sources and target."""


class NetworkConfig(Section):
    """A small network from scratch, for arrays."""

    kind: Literal["mlp", "cnn"] = "mlp"
    """Fully connected layers, or a small convolutional network for images."""
    widths: list[Annotated[int, Field(ge=1, le=1_000_000)]] = Field(
        [64, 32], min_length=1, max_length=1000
    )
    """Width of each hidden layer; the last is the size of the representation."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """Share of the representation left out in training."""
