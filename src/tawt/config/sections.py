"""The sections `data` and `model`, read as the kind of data wants them."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from tawt.errors import ConfigError, inside
from tawt.modality import DataSection, Modality, Section, modality_named


class _Kind(BaseModel):
    """What every section `data` has; the rest is for the kind of data to read."""

    kind: str


def read_data(value: Any) -> DataSection:
    """The section `data`.

    Args:
        value: As it is in the file.

    Raises:
        ConfigError: There is no such kind of data.
        ValidationError: It is not as the kind of data wants it.
    """
    if isinstance(value, DataSection):
        return value
    kind = _Kind.model_validate(value).kind
    with inside("kind", saying="`data.kind`: "):
        modality = modality_named(kind)
    section: DataSection = modality.data_section.model_validate(value)
    return section


def read_model(value: Any, data: DataSection) -> Section:
    """The section `model`.

    Args:
        value: As it is in the file; an empty section if there is none.
        data: The section `data`.

    Raises:
        ConfigError: It is for another kind of data.
        ValidationError: It is not as the kind of data wants it.
    """
    modality = modality_named(data.kind)
    wanted: type[Section] = modality.model_section
    if isinstance(value, wanted):
        return value
    given = {} if isinstance(value, Section) else value
    if isinstance(given, Mapping) and not _may_be(wanted, given):
        raise ConfigError(f"`data.kind: {data.kind}` needs {modality.model_wanted}.")
    return wanted.model_validate(given)


def robust_defaults(values: Mapping[str, Any], section: str) -> Mapping[str, Any]:
    """What the kind of data has in place of the usual preset's values; nothing if it is unknown.

    Args:
        values: The whole configuration, not checked yet.
        section: Of which values are wanted.
    """
    modality = _modality_of(values)
    return {} if modality is None else modality.robust_defaults.get(section, {})


def training_defaults(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the kind of data would have in the section `training`, whichever the preset.

    Args:
        values: The whole configuration, not checked yet.
    """
    modality, model = _modality_of(values), values.get("model")
    if modality is None:
        return {}
    given = model.model_dump() if isinstance(model, Section) else model
    return modality.training_defaults(given if isinstance(given, Mapping) else {})


def _modality_of(values: Mapping[str, Any]) -> Modality[Any, Any] | None:
    data = values.get("data")
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if isinstance(data, DataSection):
        kind = data.kind
    if not isinstance(kind, str):
        return None
    try:
        return modality_named(kind)
    except ConfigError:  # which is said when the section `data` is read, with its place
        return None


def _may_be(section: type[Section], given: Mapping[Any, Any]) -> bool:
    """Whether these are fields of the section, or meant to be."""
    fields = section.model_fields
    if "kind" in given and "kind" in fields:
        kinds = typing.get_args(fields["kind"].annotation)
        if kinds:
            return given["kind"] in kinds
    others = [str(key) for key in given if key != "kind"]
    if others:
        return any(difflib.get_close_matches(name, fields) for name in others)
    return bool(given) or not any(field.is_required() for field in fields.values())
