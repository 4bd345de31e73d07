"""How a problem with a file is told: where it is, and what stands there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST = 60  # characters of the file's own text in a message


def problem(path: Path, line: int, message: str) -> DataError:
    """An error at a line of a file.

    Example:
        >>> from pathlib import Path
        >>> str(problem(Path("train.tsv"), 3, "the word is empty."))
        'train.tsv:3: the word is empty.'
    """
    return DataError(f"{path}:{line}: {message}")


def shown(value: object) -> str:
    r"""A value from a file, safe to print on one line and not too long.

    Example:
        >>> shown("a\nb"), shown(["a"]), shown(None)
        ("'a\\nb'", 'a list', 'null')
    """
    if value is None:
        return "null"
    if not isinstance(value, str | int | float):
        # Never the repr of it: it may be nested deeper than repr can go.
        return f"a {type(value).__name__}"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
