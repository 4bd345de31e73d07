"""The corpora of the benchmark: real ones, and two that are useless."""

from __future__ import annotations

import random
import string
from typing import TYPE_CHECKING, Any

from tawt.config import parsed

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.config import RunConfig

SHUFFLED, LETTERS = "shuffled words", "random letters"
_LETTERS = 600_000  # bytes of noise


def source_names(data: Path) -> list[str]:
    """All corpora that can be mixed."""
    return [*sorted(path.stem for path in (data / "sources").glob("*.txt")), SHUFFLED, LETTERS]


def target_names(data: Path) -> list[str]:
    """All targets."""
    return sorted(path.name.split(".")[0] for path in (data / "targets").glob("*.train.txt"))


def make_targets(data: Path, folder: Path) -> None:
    """Write every target without the held-out lines that are among its 200 as well."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in target_names(data):
        own = (data / "targets" / f"{name}.train.txt").read_text(encoding="utf-8")
        (folder / f"{name}.train.txt").write_text(own, encoding="utf-8")
        for split in ("dev", "test"):
            text = (data / "targets" / f"{name}.{split}.txt").read_text(encoding="utf-8")
            kept = [line for line in text.splitlines() if line not in own.splitlines()]
            (folder / f"{name}.{split}.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")


def make_useless(data: Path, folder: Path) -> None:
    """Write the words of `web` in another order within each line, and letters that mean nothing."""
    draw = random.Random(20261118)
    lines = (data / "sources" / "web.txt").read_text(encoding="utf-8").splitlines()
    mixed = []
    for line in lines:
        words = line.split()
        draw.shuffle(words)
        mixed.append(" ".join(words))
    noise, size = [], 0
    while size < _LETTERS:
        drawn = (
            draw.choice(string.ascii_lowercase + " " * 5) for _ in range(draw.randint(40, 200))
        )
        noise.append(" ".join("".join(drawn).split()))
        size += len(noise[-1]) + 1
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{SHUFFLED}.txt").write_text("\n".join(mixed) + "\n", encoding="utf-8")
    (folder / f"{LETTERS}.txt").write_text("\n".join(noise) + "\n", encoding="utf-8")


def configuration(
    data: Path, scratch: Path, *, window: int, model: dict[str, Any], training: dict[str, Any]
) -> RunConfig:
    """A configuration that has all corpora, those of all targets included."""
    files = {name: data / "sources" / f"{name}.txt" for name in source_names(data)[:-2]}
    files |= {name: scratch / f"{name}.txt" for name in (SHUFFLED, LETTERS)}
    corpora: dict[str, Any] = {name: {"train": str(path)} for name, path in files.items()}
    for name in target_names(data):
        places = {s: scratch / f"{name}.{s}.txt" for s in ("train", "dev", "test")}
        corpora[name] = {split: str(path) for split, path in places.items()}
    return parsed(
        {
            "data": {
                "kind": "corpora",
                "corpora": corpora,
                "window": window,
                "cache": str(scratch / "tokenised"),
            },
            "target": target_names(data)[0],
            "paradigm": "sources only",
            "model": model,
            "training": training,
        }
    )
