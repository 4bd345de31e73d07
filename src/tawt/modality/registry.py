"""Kinds of data by their name.

Those of tawt are imported when they are first asked for: text alone needs transformers, and
seconds to import it. Others come from `register`, or from packages that name them in the group
`tawt.modalities` of their entry points.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from tawt.errors import ConfigError, suggestion
from tawt.extras import MissingExtraError
from tawt.modality.interface import Modality

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tawt.modality.section import DataSection, Section

GROUP = "tawt.modalities"
"""Of entry points: NAME = MODULE:MODALITY."""


BUILT_IN = {
    "digits": ("tawt.demos.digits", "DIGITS"),
    "arrays": ("tawt.arrays.modality", "ARRAYS"),
    "text": ("tawt.text.modality", "TEXT"),
    "corpora": ("tawt.corpora.modality", "CORPORA"),
    "grammar": ("tawt.demos.generated", "GRAMMAR"),
}
"""The kinds of data that tawt has, with the module and the name of each."""
_known: dict[str, Modality[Any, Any]] = {}
_registered: dict[str, str] = {}  # module by name, of those that came by `register`
_expected: dict[str, str] = {}  # the same of another process, imported when asked for


def register(modality: Modality[Any, Any]) -> None:
    """Make a kind of data known to configurations that are loaded from now on.

    Processes that train for this one import the module of the modality's class, so call this
    where that module defines it.

    Args:
        modality: One whose name no other has.

    Raises:
        ConfigError: Another kind of data has that name.
    """
    name, module = modality.name, type(modality).__module__
    if name in BUILT_IN or _registered.get(name, module) != module:
        raise ConfigError(f"There is a kind of data {name!r} already; choose another name.")
    _known[name] = modality
    _registered[name] = module


def known_modalities() -> list[str]:
    """Names of all kinds of data.

    Example:
        >>> known_modalities()[:5]
        ['digits', 'arrays', 'text', 'corpora', 'grammar']
    """
    installed = (point.name for point in _entry_points())
    return list(dict.fromkeys([*BUILT_IN, *_known, *_expected, *installed]))


def modality_named(name: str) -> Modality[Any, Any]:
    """The kind of data of that name.

    Raises:
        ConfigError: There is none, or what it needs is not installed.

    Example:
        >>> modality_named("arrays").name
        'arrays'
        >>> modality_named("array")
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: There is no kind of data 'array'; did you mean 'arrays'?
    """
    if name not in _known:
        _known[name] = _load_modality(name)
    return _known[name]


def sections_of(kind: object) -> tuple[type[DataSection], type[Section]] | None:
    """The sections `data` and `model` of a kind of data; nothing if there is no such kind.

    Args:
        kind: As it is found in a configuration.
    """
    if not isinstance(kind, str) or kind not in known_modalities():
        return None
    found = modality_named(kind)
    return found.data_section, found.model_section


def registered() -> dict[str, str]:
    """Of every kind of data that came by `register`, the module that defines it."""
    return dict(_registered)


def expect(modules: Mapping[str, str]) -> None:
    """Know where to find what another process knows.

    Args:
        modules: What `registered` returns there.
    """
    _expected.update(modules)


def _load_modality(name: str) -> Modality[Any, Any]:
    if name in BUILT_IN:
        return _built_in(name)
    return _imported(name) if name in _expected else _installed(name)


def _built_in(name: str) -> Modality[Any, Any]:
    module, member = BUILT_IN[name]
    try:
        found: Modality[Any, Any] = vars(import_module(module))[member]
    except MissingExtraError as error:
        raise ConfigError(f"{name} cannot be read: {error}") from error
    return found


def _imported(name: str) -> Modality[Any, Any]:
    """As the process registered it that this one works for."""
    try:
        import_module(_expected[name])
        return _known[name]
    except (ImportError, KeyError) as error:
        raise ConfigError(
            f"The kind of data {name!r} is unknown to the processes that train: importing "
            f"{_expected[name]} does not register it ({error!r}). Call `register` in a module "
            f"that can be imported, or name it in the entry points {GROUP!r}."
        ) from error


def _installed(name: str) -> Modality[Any, Any]:
    """From the entry points of another package."""
    for point in _entry_points():
        if point.name == name:
            try:
                found = point.load()
            except (ImportError, AttributeError) as error:
                raise ConfigError(
                    f"The kind of data {name!r} cannot be loaded from {point.value}: {error}."
                ) from error
            if not isinstance(found, Modality) or found.name != name:
                raise ConfigError(
                    f"The entry point {name!r} of {GROUP!r} must be a `tawt.modality.Modality` of "
                    f"that name; {point.value} is not."
                )
            return found
    raise ConfigError(f"There is no kind of data {name!r}; {suggestion(name, known_modalities())}")


def _entry_points() -> Iterable[Any]:
    return entry_points(group=GROUP)
