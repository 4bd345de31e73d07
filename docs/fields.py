"""Fills the tables of configuration.md and corpora.md from the models that read a configuration.

    python docs/fields.py

A test holds the pages to this program's output, so a field cannot change without its table.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
import types
import typing
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union

import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from tawt import Settings
from tawt.arrays import sections as array_sections
from tawt.config import schema as config
from tawt.config import weighting as weighting_sections
from tawt.config.presets import PRESETS
from tawt.corpora import data_sections, model_sections
from tawt.corpora import sections as corpus_sections
from tawt.demos import digits, generated
from tawt.text import sections as text_sections

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PAGES = [Path(__file__).with_name(name) for name in ("configuration.md", "corpora.md")]
MODELS: dict[str, type] = {
    model.__name__: model
    for model in (
        config.RunConfig,
        digits.DigitsData,
        array_sections.ArrayData,
        array_sections.ArrayTask,
        array_sections.NetworkConfig,
        text_sections.EncoderConfig,
        text_sections.TextData,
        text_sections.TextTask,
        text_sections.UnlabelledTask,
        generated.GrammarData,
        data_sections.CorporaData,
        corpus_sections.CorpusFiles,
        model_sections.LanguageModelConfig,
        model_sections.LoraSection,
        weighting_sections.WeightingConfig,
        weighting_sections.CurvatureConfig,
        Settings,
    )
}

_PLAIN = {
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
    type(None): "`null`",
    bool: "`true`, `false`",
}
_SIGNS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
_FAR = 1_000_000  # bounds that only keep numbers computable are said once, above the tables
_TABLE = re.compile(r"(<!-- fields: (\w+) -->\n).*?(<!-- end of fields -->)", re.DOTALL)


class Entry(NamedTuple):
    """One row of a table."""

    name: str
    values: str
    default: str
    meaning: str


def filled(text: str) -> str:
    """The page with every table made anew."""
    return _TABLE.sub(lambda found: found[1] + table(MODELS[found[2]]) + found[3], text)


def table(model: type) -> str:
    """The fields of one section, as a Markdown table."""
    rows = [Entry("field", "values", "default", "meaning"), Entry(*["---"] * 4), *_entries(model)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _entries(model: type) -> list[Entry]:
    if issubclass(model, BaseModel):
        return [
            Entry(
                f"`{name}`",
                _bounded(_values(field.annotation), field.metadata),
                _default(model, name, field.default),
                _sentence(field.description or _chooser(field.annotation)),
            )
            for name, field in model.model_fields.items()
        ]
    assert dataclasses.is_dataclass(model)
    hints, written = typing.get_type_hints(model), _attribute_docstrings(model)
    return [
        Entry(
            f"`{field.name}`",
            _values(hints[field.name]),
            _default(model, field.name, field.default),
            _sentence(written[field.name]),
        )
        for field in dataclasses.fields(model)
    ]


def _values(annotation: Any) -> str:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if isinstance(annotation, type) and origin is None:
        return "a section"
    return _COMPOUND[origin](inner)


_MANY = {"whole number": "whole numbers", "number": "numbers", "text": "names", "path": "paths"}


def _listed(inner: tuple[Any, ...]) -> str:
    one, comma, bounds = _values(inner[0]).partition(",")
    return f"list of {_MANY.get(one, one)}{comma}{bounds}"


def _mapped(inner: tuple[Any, ...]) -> str:
    if inner == (str, str):
        return "mapping from name to name"
    key = "task" if inner[0] is str else _values(inner[0]).replace(", ", " or ")
    return f"mapping from {key} to {_values(inner[1])}"


def _either(inner: tuple[Any, ...]) -> str:
    return " or ".join(dict.fromkeys(_values(member) for member in inner))


_COMPOUND: Mapping[Any, Callable[[tuple[Any, ...]], str]] = {
    Literal: lambda inner: ", ".join(f"`{value}`" for value in inner),
    list: _listed,
    dict: _mapped,
    tuple: lambda inner: "`[low, high]`",
    typing.Annotated: lambda inner: _bounded(_values(inner[0]), _constraints(inner[1:])),
    Union: _either,
    types.UnionType: _either,
}


def _constraints(extras: tuple[Any, ...]) -> list[Any]:
    return [entry for extra in extras for entry in getattr(extra, "metadata", [])]


def _bounded(values: str, metadata: list[Any]) -> str:
    bounds = [
        f"{word} {getattr(entry, sign)}"
        for entry in metadata
        for sign, word in _SIGNS.items()
        if hasattr(entry, sign) and abs(getattr(entry, sign)) < _FAR
    ]
    return ", ".join([values, *bounds])


def _default(model: type, name: str, default: Any) -> str:
    section = {weighting_sections.WeightingConfig: "weighting", Settings: "training"}.get(model)
    chosen = {
        preset: getattr(values, section)[name]
        for preset, values in PRESETS.items()
        if section is not None and name in getattr(values, section)
    }
    if chosen:
        of_preset = {preset: chosen.get(preset, default) for preset in PRESETS}
        return ", ".join(f"{preset}: {_written(value)}" for preset, value in of_preset.items())
    return _written(default)


def _written(value: Any) -> str:
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, BaseModel | Settings):
        return "its own defaults"
    text = yaml.safe_dump(value, default_flow_style=True, width=1000)
    return f"`{text.strip().removesuffix('...').strip()}`"


def _chooser(annotation: Any) -> str:
    return f"Says that the section is of the kind {typing.get_args(annotation)[0]!r}."


def _sentence(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _attribute_docstrings(model: type) -> dict[str, str]:
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    assert isinstance(body, ast.ClassDef)
    return {
        before.target.id: after.value.value
        for before, after in zip(body.body, body.body[1:], strict=False)
        if isinstance(before, ast.AnnAssign)
        and isinstance(before.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    }


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
