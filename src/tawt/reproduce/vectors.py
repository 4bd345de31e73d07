"""Word vectors: GloVe's text form, or inside a package."""

from __future__ import annotations

from importlib import metadata, resources, util
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tawt.errors import ConfigError, DataError
from tawt.paths import check_file

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    Vectors = dict[str, NDArray[np.float32]]

PACKAGE = "package:"


def load_vectors(name: str, words: Collection[str]) -> Vectors:
    """The vectors of these words, as far as there are any.

    Args:
        name: A file with a word and its numbers to a line (`glove.6B.50d.txt`), or `package:NAME`
            of a package that holds a parquet file of words and a `.npy` file of vectors.
        words: Which are wanted; others are not kept.

    Raises:
        ConfigError: There is no such package.
        DataError: It cannot be read.
    """
    wanted = set(words)
    if name.startswith(PACKAGE):
        return _in_package(name.removeprefix(PACKAGE), wanted)
    path, found = Path(name), {}
    check_file(path)
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                word, vector = _parsed(line, path, number)
                if word in wanted:
                    found[word] = vector
                    _check_width(vector, next(iter(found.values())), path, number)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"Cannot read the vectors in {path}: {error}.") from error
    return found


def _check_width(
    vector: NDArray[np.float32], first: NDArray[np.float32], path: Path, number: int
) -> None:
    if len(vector) != len(first):
        raise DataError(
            f"{path}:{number}: expected {len(first)} numbers, as for other words; got "
            f"{len(vector)}."
        )


def _parsed(line: str, path: Path, number: int) -> tuple[str, NDArray[np.float32]]:
    word, *values = line.rstrip("\n").split(" ")
    try:
        return word, np.array(values, dtype=np.float32)
    except ValueError as error:
        raise DataError(f"{path}:{number}: expected a word and its numbers; {error}.") from error


def _in_package(name: str, wanted: Collection[str]) -> Vectors:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError as error:
        raise ConfigError(
            f"The package {name} is not installed; `pip install {name}`, or give a file of vectors."
        ) from error
    if util.find_spec("pyarrow") is None:
        raise ConfigError("Vectors inside a package need pyarrow; `pip install pyarrow`.")
    from pyarrow import parquet

    folder = Path(str(resources.files(name.replace("-", "_"))))
    tables, arrays = sorted(folder.rglob("*.parquet")), sorted(folder.rglob("*.npy"))
    if len(tables) != 1 or len(arrays) != 1:
        raise DataError(f"The package {name} must hold one .parquet and one .npy file.")
    column = parquet.read_table(tables[0]).column(0).to_pylist()
    vectors = np.load(arrays[0], mmap_mode="r", allow_pickle=False)
    places = {word: place for place, word in enumerate(column) if word in wanted}
    return {word: np.array(vectors[place], np.float32) for word, place in places.items()}
