"""Names of a package that are imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

    Example:
        >>> load("tawt", {"weighting": ["Fixed"]}, "Fixed").__name__
        'Fixed'
    """
    for home, names in homes.items():
        if name in names:
            return getattr(import_module(f"{package}.{home}"), name)
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
