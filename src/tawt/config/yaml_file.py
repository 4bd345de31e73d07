"""YAML with line numbers, so that an error can say where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from tawt.config.yaml_loader import MOST_BYTES, BoundedLoader, RefusedError
from tawt.errors import ConfigError, Place
from tawt.paths import check_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read(path: Path) -> tuple[dict[str, Any], dict[Place, int]]:
    """The mapping in a YAML file, and the line on which each value stands.

    Raises:
        ConfigError: If the file cannot be read, is not YAML, is not a mapping, or has a key twice.
    """
    text = _text(path)
    try:
        values, lines = _loaded(text)
    except yaml.YAMLError as error:
        line, problem = _problem(error)
        where = f"{path}:{line}" if line else str(path)
        said = ":" if isinstance(error, RefusedError) else " is not YAML:"
        raise ConfigError(f"{where}{said} {problem}.") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must hold `key: value` lines at the top; it holds none.")
    return values, lines


def read_value(text: str) -> Any:
    """One value, as it would stand in a file.

    Raises:
        ConfigError: If it is not YAML, or not one value.

    Example:
        >>> read_value("[1, none, 2e-5]")
        [1, 'none', '2e-5']
        >>> read_value("2024-13-45")
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: '2024-13-45' looks like a date and is not a valid one; quote it.
    """
    try:
        return _loaded(text)[0]
    except yaml.YAMLError as error:
        raise ConfigError(f"{_problem(error)[1]}.") from error


def line_of(place: Place, lines: Mapping[Place, int]) -> int | None:
    """The line of a value or, where it is missing, of the nearest thing around it.

    Example:
        >>> line_of(("a", "b"), {("a",): 3})
        3
    """
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place)


def located(source: str, place: Place, lines: Mapping[Place, int]) -> str:
    """A file with the line of a value, as far as it is known.

    Example:
        >>> located("a.yaml", ("a", "b"), {("a",): 3}), located("a.yaml", ("b",), {})
        ('a.yaml:3', 'a.yaml')
    """
    line = line_of(place, lines)
    return f"{source}:{line}" if line else source


def _text(path: Path) -> str:
    check_file(path, error=ConfigError)
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"Cannot read {path}: {reason}.") from error
    if len(data) > MOST_BYTES:
        raise ConfigError(
            f"{path} has more than {MOST_BYTES:,} bytes, which is no configuration; data belongs "
            "in files of its own."
        )
    return text


def _loaded(text: str) -> tuple[Any, dict[Place, int]]:
    """What the text holds, and on which lines."""
    loader = BoundedLoader(text)
    try:
        node = loader.get_single_node()
        lines: dict[Place, int] = {}
        _collect(node, (), lines)
        return None if node is None else loader.construct_document(node), lines
    finally:
        loader.dispose()


def _problem(error: yaml.YAMLError) -> tuple[int | None, str]:
    """The line, where it is known, and what is wrong there."""
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark else getattr(error, "line", None)
    problem = getattr(error, "problem", None) or str(error)
    return line, " ".join(problem.split()).rstrip(".")


def _collect(node: yaml.Node | None, place: Place, lines: dict[Place, int]) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*place, key.value) if isinstance(key, yaml.ScalarNode) else place
            lines[inner] = key.start_mark.line + 1
            _collect(value, inner, lines)
    elif isinstance(node, yaml.SequenceNode):
        for position, value in enumerate(node.value):
            lines[(*place, position)] = value.start_mark.line + 1
            _collect(value, (*place, position), lines)
