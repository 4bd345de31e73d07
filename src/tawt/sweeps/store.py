"""Where the records of work are kept, each under its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt import files
from tawt.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tawt.sweeps.work import Record, Work


class RecordStore:
    """One JSON file for each record.

    Several processes may use a store at once: files are written whole, and a key has one record.

    Args:
        folder: Of the question.
        place: Where in the folder the record of a key is, such as "records/{}.json".
        sealed: Whether records carry a checksum.
        remedy: What to do about a record that is damaged.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = RecordStore(Path(folder), "records/{}.json")
        ...     store.keep("a", {"score": 0.5})
        ...     store.find("a"), store.find("b")
        ({'score': 0.5}, None)
    """

    def __init__(
        self, folder: Path, place: str, *, sealed: bool = False, remedy: str | None = None
    ) -> None:
        self.folder = folder
        self._place, self._sealed, self._remedy = place, sealed, remedy
        self._read: dict[str, Record] = {}

    def path(self, key: str) -> Path:
        """Where the record is, or will be."""
        return self.folder / self._place.format(key)

    def find(self, key: str) -> Record | None:
        """The record, if it is there.

        Raises:
            RunError: It is damaged.
        """
        if key not in self._read:
            path = self.path(key)
            if not path.exists():
                return None
            try:
                found = files.read_sealed(path) if self._sealed else files.read_json(path)
            except RunError as error:
                raise RunError(f"{error} {self._remedy}" if self._remedy else str(error)) from error
            self._read[key] = found
        return self._read[key]

    def keep(self, key: str, record: Record) -> None:
        """Leave a record under its key."""
        write = files.write_sealed if self._sealed else files.write_json
        write(self.path(key), record)
        self.forget(key)

    def forget(self, key: str) -> None:
        """Read the record again the next time: it was made anew."""
        self._read.pop(key, None)

    def missing(self, wanted: Iterable[Work]) -> list[Work]:
        """The work without a record, each once, the longest first."""
        found = {}
        for work in wanted:
            record = self.find(work.key)
            if record is None or not work.fits(record):
                found[work.key] = work
        return sorted(found.values(), key=lambda work: -work.size)
