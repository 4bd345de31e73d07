"""Names of a package that are imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tawt.extras import missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def load(package: str, homes: Mapping[str, Sequence[str]], name: str) -> Any:
    """The member of a package, imported from the module that has it.

    Args:
        package: Its full name.
        homes: Names by the module that has them.
        name: What is asked for.

    Raises:
        AttributeError: The package has no such name.
        ImportError: A library is missing; it says which extra brings it.

    Example:
        >>> load("tawt", {"weighting": ["Fixed"]}, "Fixed").__name__
        'Fixed'
    """
    for home, names in homes.items():
        if name in names:
            try:
                return getattr(import_module(f"{package}.{home}"), name)
            except ModuleNotFoundError as error:
                raise ImportError(f"{package}.{name}: {missing(error) or error}") from error
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
