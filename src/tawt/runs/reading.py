"""What a run left in its folder, checked to be what the page takes it for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.errors import RunError
from tawt.files.shapes import check
from tawt.runs import shapes, units
from tawt.runs.folder import RECORD, WEIGHTS

if TYPE_CHECKING:
    from tawt.runs import RunFolder


def record_of(folder: RunFolder) -> dict[str, Any]:
    """What the run came to.

    Raises:
        RunError: It is not finished, or damaged.
    """
    record = folder.record()
    check(record, shapes.Record, folder.path / RECORD)
    return record


def updates_of(folder: RunFolder) -> list[dict[str, Any]]:
    """The history of the weights.

    Raises:
        RunError: It is damaged.
    """
    try:
        updates = folder.updates()
    except RecursionError as error:
        raise RunError(f"{folder.path / WEIGHTS} is damaged: {error}.") from error
    for update in updates:
        check(update, shapes.Update, folder.path / WEIGHTS)
    return updates


def shown_units_of(folder: RunFolder) -> dict[str, Any] | None:
    """What is shown of groups and examples, where weights were on those.

    Raises:
        RunError: It is damaged.
    """
    shown = folder.shown_units()
    if shown is not None or (folder.path / units.SHOWN).exists():
        check(shown, shapes.ShownUnits, folder.path / units.SHOWN)
    return shown
