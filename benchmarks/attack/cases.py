"""What is attacked: small studies, the commands on them, and what has to come out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from tawt import files
from tawt.demos.grammar import generate
from tawt.demos.tiny import write_tiny_encoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LEFT = {".lock", ".writer"}
"""Hidden files that may stay: by these, processes know of each other."""
_TIMES = {"began", "seconds", "commit"}
_BYTES = (".jsonl", ".tsv", ".safetensors")
_ARRAYS: dict[str, Any] = {
    "target": "goal",
    "model": {"widths": [8], "dropout": 0.1},
    "training": {"batch_size": 8, "learning_rate": 0.01, "update_every": 3},
}
_DIGITS: dict[str, Any] = {
    "name": "digits",
    "data": {"kind": "digits", "target_size": 20},
    "target": "digit",
    "sources": ["parity", "coins"],
    "paradigm": "pre-training",
    "epochs": 1,
    "target_epochs": 4,
    "training": {"learning_rate": 0.01, "batch_size": 64, "update_every": 10},
}
_TEXT: dict[str, Any] = {
    "name": "text",
    "data": {"kind": "grammar", "target_size": 12, "source_size": 12},
    "target": "chunk",
    "sources": ["pos", "entity"],
    "epochs": 1,
    "target_epochs": 1,
    "training": {"learning_rate": 0.002, "batch_size": 8, "update_every": 2},
}


@dataclass(frozen=True)
class Case:
    """A command on a study.

    Args:
        name: For the record.
        command: Of tawt.
        config: Its file.
        options: Its options.
        often: How often it is chosen beside the others.
    """

    name: str
    command: str
    config: Path
    options: tuple[str, ...]
    often: int = field(default=1)

    def arguments(self, folder: Path) -> list[object]:
        """To begin with, and to go on with: the same."""
        return [self.command, self.config, "--out", folder, *self.options, "--quiet"]


def cases(folder: Path) -> list[Case]:
    """The studies on disk, and the commands on them."""
    arrays = _arrays(folder / "arrays")
    fast = ("--checkpoint-seconds", "0", "--resume")
    joint = _written(folder / "arrays", "joint", {**arrays, "epochs": 6, "paradigm": "joint"})
    once = {**arrays, "epochs": 1, "target_epochs": 1}
    rows = ("--row", "single-task", "--row", "weighted joint", "--seeds", "2", "--jobs", "2")
    return [
        Case("train, arrays", "train", joint, fast, often=5),
        Case("train, digits", "train", _written(folder, "digits", _DIGITS), fast, often=3),
        Case("train, text", "train", _written(folder, "text", _text(folder)), fast, often=2),
        Case(
            "compare, arrays", "compare", _written(folder / "arrays", "rows", once), rows, often=3
        ),
        Case(
            "distance, arrays",
            "distance",
            _written(folder / "arrays", "distances", once),
            ("--seeds", "1", "--jobs", "2"),
            often=3,
        ),
        Case(
            "distance without training, arrays",
            "distance",
            _written(folder / "arrays", "estimates", once),
            ("--no-training",),
            often=3,
        ),
    ]


def outcome(folder: Path) -> dict[str, Any]:
    """Every file that is left, and what counts of it."""
    return {
        str(path.relative_to(folder)): _counting(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in LEFT
    }


def _counting(path: Path) -> Any:
    """Bytes, or values without times; of pages, which show times, only that they are there."""
    if path.name.startswith("."):
        return "should not be here"
    if path.suffix in _BYTES:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    if path.suffix == ".json":
        found = files.read_json(path)
        if isinstance(found, dict) and isinstance(found.get("sha256"), str):  # over times too
            found = files.read_sealed(path)
        return _timeless(found)
    if path.suffix == ".yaml":
        return path.read_text(encoding="utf-8")
    return "there"


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(part) for key, part in value.items() if key not in _TIMES}
    return [_timeless(part) for part in value] if isinstance(value, list) else value


def torn(folder: Path, *, but: set[Path]) -> list[str]:
    """Files that a reader could not read now, of those that have their name.

    Args:
        folder: To look through.
        but: Files that were damaged on purpose.
    """
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".") and path not in but and _is_torn(path)
    ]


def _is_torn(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except FileNotFoundError:  # its writer, or a rival, was quicker
        return False
    check: Callable[[bytes], Any] | None = {
        ".json": json.loads,
        ".jsonl": lambda lines: [json.loads(line) for line in lines.splitlines()],
        ".yaml": lambda text: yaml.safe_load(text) or _no("empty"),
        ".tsv": lambda text: text.endswith(b"\n") or _no("no end"),
        ".html": lambda text: text.rstrip().endswith(b"</html>") or _no("no end"),
        ".safetensors": _all_tensors,
    }.get(path.suffix)
    try:
        if check is not None:
            check(content)
    except (ValueError, yaml.YAMLError):
        return True
    return False


def _all_tensors(content: bytes) -> None:
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    ends = [each["data_offsets"][1] for name, each in header.items() if name != "__metadata__"]
    if len(content) < 8 + size + max(ends, default=0):
        _no("short")


def _no(reason: str) -> None:
    raise ValueError(reason)


def _arrays(folder: Path) -> dict[str, Any]:
    folder.mkdir(parents=True)
    parts = {
        "goal": {"train": 20, "dev": 15, "test": 25},
        "near": {"train": 64},
        "far": {"train": 54},
    }
    tasks: dict[str, dict[str, str]] = {}
    for place, (name, sizes) in enumerate(parts.items()):
        tasks[name] = {}
        for split, size in sizes.items():
            draw = np.random.default_rng([place, size])
            inputs = draw.normal(size=(size, 4)).astype(np.float32)
            labels = draw.integers(0, 3, size) if name == "far" else inputs[:, :3].argmax(1)
            np.savez(folder / f"{name}.{split}.npz", inputs=inputs, labels=labels.astype(np.int64))
            tasks[name][split] = f"{name}.{split}.npz"
    return {**_ARRAYS, "data": {"kind": "arrays", "tasks": tasks}}


def _text(folder: Path) -> dict[str, Any]:
    words = [sentence.words for sentence in generate(200, seed=1)]
    encoder = write_tiny_encoder(folder / "encoder", words, vocabulary=300, width=16, layers=1)
    return {**_TEXT, "model": {"encoder": str(encoder), "max_length": 32}}


def _written(folder: Path, name: str, values: dict[str, Any]) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({"name": name, **values}), encoding="utf-8")
    return path
