"""Unpack the records that tables and figures of docs/results are made from.

    python docs/records.py minilm-3e-4 again
    tawt reproduce table-main --out again

docs/results/records/NAME.jsonl.gz has a line for each file of a folder that `tawt reproduce` left:
its path in the folder and its content. `--pack` writes such a file from a folder: what was asked
for and the records, without runs, tables and data.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

RECORDS = Path(__file__).parent / "results" / "records"
_ENDING = ".jsonl.gz"
_PACKED = ("*/request.json", "records/*.json", "words/*/about.json")


def main(arguments: Sequence[str] | None = None) -> None:
    """Unpack, or pack."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", metavar="NAME", help="of a file in docs/results/records")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="to unpack into; new or empty")
    parser.add_argument("--pack", action="store_true", help="write the file from the folder")
    options = parser.parse_args(arguments)
    if options.pack:
        path_of(options.name).write_bytes(packed(options.folder))
        return
    if options.name not in names():
        parser.error(f"there are records of {', '.join(names())}; got {options.name!r}.")
    if options.folder.exists() and any(options.folder.iterdir()):
        parser.error(f"{options.folder} is not empty; give a new folder.")
    unpack(options.name, options.folder)


def names() -> list[str]:
    """What there are records of."""
    return sorted(path.name.removesuffix(_ENDING) for path in RECORDS.glob(f"*{_ENDING}"))


def path_of(name: str) -> Path:
    """Where the records of a name are."""
    return RECORDS / f"{name}{_ENDING}"


def contents(name: str) -> dict[str, Any]:
    """The content of every file by its path."""
    with gzip.open(path_of(name)) as lines:
        return {line["path"]: line["content"] for line in map(json.loads, lines)}


def unpack(name: str, folder: Path) -> None:
    """Write every file into a folder."""
    for place, content in contents(name).items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{_compact(content)}\n", encoding="utf-8")


def packed(folder: Path) -> bytes:
    """The same for the same files, whenever it is made.

    Raises:
        SystemExit: The folder has no records.
    """
    found = sorted(path for pattern in _PACKED for path in folder.glob(pattern))
    if not found:
        raise SystemExit(f"error: {folder} has no records; give a folder of `tawt reproduce`.")
    lines = [
        _compact(
            {
                "path": path.relative_to(folder).as_posix(),
                "content": json.loads(path.read_text(encoding="utf-8")),
            }
        )
        for path in found
    ]
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    main()
