"""What is wrong with a configuration, in one line, with the file, the line and the field."""

from __future__ import annotations

import dataclasses
import re
import reprlib
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from tawt.config import yaml_file as yaml_lines
from tawt.errors import ConfigError, suggestion
from tawt.modality.registry import sections_of

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import ValidationError

_OF_THE_DATA = ("data", "model")
_NAMES_A_FIELD = ("missing", "extra_forbidden", "unexpected_keyword_argument")
_BRIEFLY = reprlib.Repr()
_BRIEFLY.maxlevel, _BRIEFLY.maxstring, _BRIEFLY.maxother, _BRIEFLY.maxlong = 3, 120, 120, 60


def explained(
    error: ValidationError,
    source: str,
    lines: dict[yaml_lines.Place, int],
    *,
    model: type[BaseModel],
    values: Mapping[str, Any],
) -> str:
    """The first thing that is wrong with a file, with the line it is on.

    Args:
        error: What pydantic found.
        source: The file's name.
        lines: Of the file's values.
        model: What the file should hold.
        values: What it holds.
    """
    problem = error.errors(include_url=False)[0]
    names_a_field = problem["type"] in _NAMES_A_FIELD
    place = _in_file(problem["loc"], values, names_a_field=names_a_field)
    where = yaml_lines.located(source, place, lines)
    field = ".".join(map(str, place)) or "the configuration"
    if problem["type"] == "missing":
        return f"{where}: `{field}` is missing."
    if names_a_field:
        return f"{where}: there is no field `{field}`; {_nearest(place, model, values)}"
    got = shown(problem.get("input"))
    return f"{where}: `{field}`: {problem['msg'][0].lower()}{problem['msg'][1:]}; got {got}."


def shown(value: Any) -> str:
    """A value in a message: a long one, or one inside many others, is cut.

    Example:
        >>> shown([1, "two"]), shown(10**100)
        ("[1, 'two']", '1000000000000000000000000000...00000000000000000000000000000')
    """
    try:
        return _BRIEFLY.repr(value)
    except ValueError:  # Python refuses to write thousands of digits
        return f"a value of type {type(value).__name__} that is too long to show"


def line_named(message: str, lines: dict[yaml_lines.Place, int]) -> int | None:
    """The line of the first field that a message names, in the section where such fields are.

    Args:
        message: Of an error that came when the configuration was read.
        lines: Of the file's values.
    """
    for field in re.findall(r"`([\w.]+)`", message):
        for place in (("training", field), tuple(field.split("."))):
            if place in lines:
                return lines[place]
    return None


def line_meant(
    path: Path, message: str, *, section: yaml_lines.Place = ("data", "tasks")
) -> int | None:
    """The line of a configuration that a message about its tasks is about, if it names one.

    Args:
        path: The file.
        message: Of an error that came when the configuration was put to work.
        section: Where the file has its tasks.
    """
    try:
        _, lines = yaml_lines.read(path)
    except ConfigError:  # it has changed since; what is to be said is said without a line
        return None
    tasks = [(*section, name) for name in re.findall(r"[Tt]ask '([^']+)'", message)]
    fields = re.findall(r"`([\w.]+)`", message)
    places: list[yaml_lines.Place] = [(*task, field) for task in tasks for field in fields]
    plainly = [field for field in ("metric", "format", "kind") if field in message]
    places += [(*task, field) for task in tasks for field in plainly]
    places += tasks
    places += [tuple(field.split(".")) for field in fields]
    if message.startswith("There is no task"):
        places += [("target",), ("sources",)]
    return next((lines[place] for place in places if place in lines), None)


def _in_file(
    place: tuple[str | int, ...], values: Mapping[str, Any], *, names_a_field: bool
) -> yaml_lines.Place:
    """A place without the types that pydantic tried, which it names and the file does not.

    Args:
        place: As pydantic has it.
        values: What the file holds.
        names_a_field: Whether the place ends in a field, there or not.
    """
    kept: list[str | int] = []
    inner: Any = values
    for position, part in enumerate(place):
        is_last = position == len(place) - 1
        if _has(inner, part):
            inner = inner[part]
            kept.append(part)
        elif is_last and names_a_field:
            kept.append(part)
    return tuple(kept)


def _has(inner: Any, part: str | int) -> bool:
    if isinstance(inner, Mapping):
        return part in inner
    return isinstance(inner, list) and isinstance(part, int) and part < len(inner)


def _nearest(place: yaml_lines.Place, model: type[BaseModel], values: Mapping[str, Any]) -> str:
    inside = place[:-1]
    if inside and inside[0] in _OF_THE_DATA:  # whose fields depend on the kind of data
        data = values.get("data")
        found = sections_of(data.get("kind")) if isinstance(data, Mapping) else None
        if found is not None:
            model, inside = found[_OF_THE_DATA.index(inside[0])], inside[1:]
    return suggestion(str(place[-1]), _fields(model, inside))


def _fields(model: Any, place: yaml_lines.Place) -> list[str]:
    """Names of the fields at a place of the configuration, over all members of unions."""
    models = [model]
    for part in place:
        annotations = [typing.get_type_hints(m).get(str(part)) for m in models]
        models = [m for a in annotations for m in _models_in(a)] or models
    return sorted(
        {name for m in models for name in typing.get_type_hints(m) if name[0] != "_"}
        - {"model_config"}
    )


def _models_in(annotation: Any) -> list[Any]:
    if isinstance(annotation, type) and (
        issubclass(annotation, BaseModel) or dataclasses.is_dataclass(annotation)
    ):
        return [annotation]
    return [m for inner in typing.get_args(annotation) for m in _models_in(inner)]
