"""Files of a saved dataset, checked before they are mapped into memory.

`datasets` maps them as they are: of a damaged one it follows lengths and offsets out of the file,
which ends the process without a word.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tawt.errors import DataError
from tawt.paths import check_file

if TYPE_CHECKING:
    from pathlib import Path


def check_saved(folder: Path) -> None:
    """Read every table in a folder once, a batch at a time.

    Args:
        folder: One that `save_to_disk` wrote.

    Raises:
        DataError: If a file is no regular one, or a table is damaged.
    """
    arrow = importlib.import_module("pyarrow")
    for path in sorted(each for each in folder.rglob("*") if not each.is_dir()):
        check_file(path)
        if path.suffix != ".arrow":
            continue
        try:
            with arrow.OSFile(str(path)) as file, arrow.ipc.open_stream(file) as batches:
                for batch in batches:
                    batch.validate(full=True)
        except (arrow.ArrowException, OSError, ValueError, MemoryError) as error:
            reason = " ".join(str(error).split())[:200].rstrip(".")
            raise DataError(
                f"{path} is damaged ({reason}); save the dataset again with save_to_disk."
            ) from error
