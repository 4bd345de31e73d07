"""A configuration as YAML, with what is said beside its values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tawt.modality.recognising import Commented
from tawt.paths import resolved

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH = 100
_BESIDE = 34
"""Column of a comment beside a short value."""
_APART = ("data", "target", "model", "paradigm", "weighting", "training")
"""Fields at the top before which a line is left blank."""


def commented_yaml(values: Mapping[str, Any], *, folder: Path) -> str:
    r"""Sections and fields as YAML.

    Args:
        values: By name; some of them `Commented`.
        folder: Where the file will lie, which paths are made relative to.

    Example:
        >>> print(commented_yaml({"epochs": Commented(4, "passes")}, folder=Path()), end="")
        epochs: 4                         # passes
    """
    return "".join(f"{line}\n" for line in _lines(values, folder, depth=0))


def _lines(values: Mapping[str, Any], folder: Path, *, depth: int) -> Iterator[str]:
    for name, given in values.items():
        if depth == 0 and name in _APART:
            yield ""
        value, comment = (
            (given.value, given.comment) if isinstance(given, Commented) else (given, "")
        )
        start = f"{'  ' * depth}{_scalar(name, folder)}:"
        if isinstance(value, Mapping) and _is_section(value):
            yield from _with_comment(start, comment, depth)
            yield from _lines(value, folder, depth=depth + 1)
        else:
            yield from _with_comment(f"{start} {_scalar(value, folder)}", comment, depth)


def _is_section(value: Mapping[str, Any]) -> bool:
    """A mapping of plain values, such as `held_out`, is written on its line."""
    return any(isinstance(each, Mapping | Commented | Path) for each in value.values())


def _with_comment(line: str, comment: str, depth: int) -> Iterator[str]:
    beside = f"{line:<{_BESIDE - 2}}  # {comment}" if comment else line
    if not comment or len(beside) <= _WIDTH:
        yield beside
        return
    indent = "  " * depth
    yield from _wrapped(comment, f"{indent}# ")
    yield line


def _wrapped(text: str, start: str) -> Iterator[str]:
    line = start
    for word in text.split():
        if len(line) + len(word) > _WIDTH and line != start:
            yield line.rstrip()
            line = start
        line += f"{word} "
    yield line.rstrip()


def _scalar(value: Any, folder: Path) -> str:
    """A value on one line."""
    text = yaml.safe_dump(
        _plain(value, folder),
        default_flow_style=True,
        allow_unicode=True,
        sort_keys=False,
        width=float("inf"),
    )
    return text.removesuffix("...\n").rstrip("\n")


def _plain(value: Any, folder: Path) -> Any:
    if isinstance(value, Path):
        return _relative(value, folder)
    if isinstance(value, Mapping):
        return {key: _plain(each, folder) for key, each in value.items()}
    return [_plain(each, folder) for each in value] if isinstance(value, list) else value


def _relative(path: Path, folder: Path) -> str:
    """From the folder to the path; `./` before what would be taken for something else."""
    found = Path(os.path.relpath(resolved(path), resolved(folder))).as_posix()
    return f"./{found}" if found.startswith("~") else found
