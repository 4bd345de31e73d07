"""Datasets that `datasets` saved in a folder: their fields, seen from their first rows."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from tawt.errors import DataError
from tawt.modality.recognising import Commented
from tawt.text.reading.hub import load_split, rows_of
from tawt.text.recognising.roles import roles_of
from tawt.text.recognising.ways import Way, fields_in, in_words

if TYPE_CHECKING:
    from pathlib import Path

_ROWS = 1000


def way_of_saved(folder: Path) -> Way:
    """How a saved dataset is to be read.

    Args:
        folder: As `save_to_disk` wrote it.

    Raises:
        DataError: It is damaged, `datasets` is not installed, or there are no labels in it.
    """
    source, dataset = load_split(folder, split="train")
    records: list[dict[str, Any]] = [
        dict(row) for row in itertools.islice(rows_of(source, dataset), _ROWS)
    ]
    roles = roles_of(records) if records else None
    if roles is None or roles.kind is None:
        listed = ", ".join(map(repr, records[0] if records else {}))
        raise DataError(
            f"{folder} was saved by `datasets`, and its fields do not look like texts with labels: "
            f"{listed or 'none'}. Describe it by hand, with `folder` and `fields`."
        )
    said = f"a saved dataset: {in_words(roles)}"
    return Way(kind=roles.kind, taken_for=said, options=fields_in(roles))


def folder_section(folder: Path) -> dict[str, Any]:
    """The files of a saved dataset, as a task's section has them.

    Args:
        folder: As `save_to_disk` wrote it.
    """
    return {"folder": Commented(folder, "saved by `datasets`")}
