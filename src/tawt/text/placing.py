"""Paths of a configuration, made absolute."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from tawt.paths import home_expanded, resolved

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.text.sections import Files


@overload
def placed(given: Path, folder: Path) -> Path: ...
@overload
def placed(given: Files | None, folder: Path) -> Files | None: ...
def placed(given: Files | None, folder: Path) -> Files | None:
    """Files of a section, relative ones being so to a folder; those on the hub are nowhere else.

    Args:
        given: A path, several, or none.
        folder: Of the configuration.

    Example:
        >>> from pathlib import Path
        >>> placed([Path("a.txt"), Path("hub:a/b")], Path("/data"))
        [PosixPath('/data/a.txt'), PosixPath('hub:a/b')]
    """
    if given is None:
        return None
    if isinstance(given, list):
        return [placed(each, folder) for each in given]
    is_on_hub = str(given).startswith("hub:")
    return given if is_on_hub else resolved(folder / home_expanded(given))
