"""What is wrong with a configuration, in one line, with the file, the line and the field."""

from __future__ import annotations

import dataclasses
import difflib
import reprlib
import typing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from tawt.config import yaml_file
from tawt.errors import ConfigError, Place, TawtError, suggestion
from tawt.modality.registry import sections_of

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_NAMES_A_FIELD = ("missing", "extra_forbidden", "unexpected_keyword_argument")
_SURE = 0.85  # likeness of two names, to send the reader to another section
_BRIEFLY = reprlib.Repr()
_BRIEFLY.maxlevel, _BRIEFLY.maxstring, _BRIEFLY.maxother, _BRIEFLY.maxlong = 3, 120, 120, 60


def explained(
    error: ValidationError,
    source: str,
    lines: Mapping[Place, int],
    *,
    model: type[BaseModel],
    values: Mapping[str, Any],
) -> ConfigError:
    """The first thing that is wrong with a file, with the line it is on.

    Args:
        error: What pydantic found.
        source: The file's name.
        lines: Of the file's values.
        model: What the file should hold.
        values: What it holds.
    """
    problem = _first(error.errors(include_url=False))
    names_a_field = problem["type"] in _NAMES_A_FIELD
    place = _in_file(problem["loc"], values, names_a_field=names_a_field)
    ours = problem.get("ctx", {}).get("error")
    if isinstance(ours, TawtError):  # raised by a check of ours, which has said it all
        return located(ours.inside(*place), source, lines)
    field = ".".join(map(str, place)) or "the configuration"
    if problem["type"] == "missing":
        said = f"`{field}` is missing."
    elif names_a_field:
        said = f"there is no field `{field}`; {_nearest(place, model, values)}"
    else:
        what = f"{problem['msg'][0].lower()}{problem['msg'][1:]}"
        said = f"`{field}`: {what}; got {shown(problem.get('input'))}."
    return located(ConfigError(said, place=place), source, lines)


def _first(problems: list[ErrorDetails]) -> ErrorDetails:
    """The first of them; of a field that is missing, the other name that it was given."""
    first = problems[0]
    if first["type"] != "missing":
        return first
    *section, name = first["loc"]
    there = (other for other in problems if other["type"] == "extra_forbidden")
    meant = (
        other
        for other in there
        if [*other["loc"][:-1]] == section
        and difflib.get_close_matches(str(other["loc"][-1]), [str(name)])
    )
    return next(meant, first)


def located(error: TawtError, source: str, lines: Mapping[Place, int]) -> ConfigError:
    """An error with the file, and the line of its place, before what it says.

    Example:
        >>> error = ConfigError("must be positive.", place=("training", "batch_size"))
        >>> print(located(error, "study.yaml", {("training",): 7}))
        study.yaml:7: must be positive.
    """
    return ConfigError(f"{yaml_file.located(source, error.place, lines)}: {error}")


@contextmanager
def lines_of(path: Path, *, tasks: Place = ("data", "tasks")) -> Iterator[None]:
    """Have mistakes of a configuration that only show when it is put to work named by line too.

    Args:
        path: The file that the configuration came from.
        tasks: Where that file has its tasks.
    """
    try:
        yield
    except ConfigError as error:
        if not error.place:
            raise
        inner = error.place
        place = (*tasks, *inner[2:]) if inner[:2] == ("data", "tasks") else inner
        where = yaml_file.located(str(path), place, _lines(path))
        raise ConfigError(f"{where}: {error}") from error


def _lines(path: Path) -> dict[Place, int]:
    try:
        return yaml_file.read(path)[1]
    except ConfigError:  # it has changed since; what is to be said is said without a line
        return {}


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


def _in_file(
    place: tuple[str | int, ...], values: Mapping[str, Any], *, names_a_field: bool
) -> Place:
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


def _nearest(place: Place, model: type[BaseModel], values: Mapping[str, Any]) -> str:
    """What is meant by a field that there is not: one of its section, or of another place."""
    name, section = str(place[-1]), place[:-1]
    sections = _sections(model, values)
    first = sections.get(str(section[0])) if section else None
    here = _fields([model], section) if first is None else _fields([first], section[1:])
    elsewhere = {field: field for field in _fields([model], ())} if section else {}
    for home, inner in sections.items():
        elsewhere |= {field: f"{home}.{field}" for field in _fields([inner], ())}
    close = difflib.get_close_matches(name, [*here, *elsewhere], n=1, cutoff=_SURE)
    if not close or close[0] in here:
        return suggestion(name, here)
    return f"did you mean `{elsewhere[close[0]]}`?"


def _sections(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """The sections of a configuration by name; `data` and `model` as the kind of data has them."""
    found: dict[str, Any] = {}
    for name, annotation in typing.get_type_hints(model).items():
        models = _models_in(annotation)
        if models and typing.get_origin(annotation) is not dict:
            found[name] = models[0]
    data = values.get("data")
    of_data = sections_of(data.get("kind")) if isinstance(data, Mapping) else None
    return found if of_data is None else {**found, "data": of_data[0], "model": of_data[1]}


def _fields(models: list[Any], place: Place) -> list[str]:
    """Names of the fields at a place inside of these, over all members of unions."""
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
