"""YAML with line numbers, so that an error can say where it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from tawt.errors import ConfigError
from tawt.paths import check_file

if TYPE_CHECKING:
    from pathlib import Path

Place = tuple[str | int, ...]
"""Keys and positions from the top of a document down to a value."""


def read(path: Path) -> tuple[dict[str, Any], dict[Place, int]]:
    """The mapping in a YAML file, and the line on which each value stands.

    Raises:
        ConfigError: If the file cannot be read, is not YAML, or is not a mapping.
    """
    check_file(path, error=ConfigError)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"Cannot read {path}: {reason}.") from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise ConfigError(f"{path}{where} is not YAML: {problem}.") from error
    except ValueError as error:  # a date that is none, say
        raise ConfigError(
            f"{path} is not YAML: {error} (quote what only looks like a date: {_dates(text)})."
        ) from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must hold `key: value` lines at the top; it holds none.")
    lines: dict[Place, int] = {}
    try:
        _collect(node, (), lines)
    except RecursionError as error:
        raise ConfigError(f"{path} refers to itself through an alias; write it out.") from error
    return values, lines


def line_of(place: Place, lines: dict[Place, int]) -> int | None:
    """The line of a value or, where it is missing, of the nearest thing around it.

    Example:
        >>> line_of(("a", "b"), {("a",): 3})
        3
    """
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place)


def located(source: str, place: Place, lines: dict[Place, int]) -> str:
    """A file with the line of a value, as far as it is known.

    Example:
        >>> located("a.yaml", ("a", "b"), {("a",): 3}), located("a.yaml", ("b",), {})
        ('a.yaml:3', 'a.yaml')
    """
    line = line_of(place, lines)
    return f"{source}:{line}" if line else source


def _collect(node: yaml.Node | None, place: Place, lines: dict[Place, int]) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*place, key.value)
            lines[inner] = key.start_mark.line + 1
            _collect(value, inner, lines)
    elif isinstance(node, yaml.SequenceNode):
        for position, value in enumerate(node.value):
            lines[(*place, position)] = value.start_mark.line + 1
            _collect(value, (*place, position), lines)


def _dates(text: str) -> str:
    return ", ".join(re.findall(r"\d{4}-\d{1,2}-\d{1,2}", text)[:3])
