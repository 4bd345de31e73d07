"""What can go wrong, by whose hands it can be put right.

Every error a user can cause is a `TawtError`; its message says what is wrong, what was expected,
what was found and what to do. The command line prints that one line and exits with status 2.
"""

from __future__ import annotations

import difflib
import math
import numbers
import pickle
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Place = tuple[str | int, ...]
"""Keys and positions from the top of a configuration down to a value."""


class TawtError(Exception):
    """Base of every error that tawt raises on purpose.

    Args:
        message: What is wrong, what was expected, what was found and what to do.
        place: Which value of a configuration it is about, if it is about one. Who raises it names
            as much of the way as it knows; who calls that adds the rest by `inside`.

    Example:
        >>> ConfigError("`limit` must be at least 1; got 0.", place=("limit",)).place
        ('limit',)
    """

    def __init__(self, message: str = "", *, place: Place = ()) -> None:
        super().__init__(message)
        self.place = place

    def inside(self, *outer: str | int, saying: str = "") -> Self:
        """The same error, seen from further out.

        Args:
            outer: Where in the configuration its place is.
            saying: What the message then begins with.

        Example:
            >>> error = DataError("the file is empty.", place=("train",))
            >>> error.inside("data", "tasks", "ner", saying="Task 'ner': ").place
            ('data', 'tasks', 'ner', 'train')
        """
        return type(self)(f"{saying}{self}", place=(*outer, *self.place))


@contextmanager
def inside(*outer: str | int, saying: str = "") -> Iterator[None]:
    """Have errors say where in the configuration they are; see `TawtError.inside`."""
    try:
        yield
    except TawtError as error:
        raise error.inside(*outer, saying=saying) from error


class ConfigError(TawtError, ValueError):  # pydantic adds the place of a validator's ValueError
    """A configuration that cannot be run: an unknown field, a value out of range."""


class DataError(TawtError):
    """Data that cannot be trained on: an empty task, labels out of range, mismatched shapes."""


class WeightsError(TawtError):
    """Weights that are not weights: negative, NaN, not summing to one, naming unknown tasks."""


class TrainingError(TawtError):
    """A training run that cannot go on, for example because its losses are not finite."""


class RunError(TawtError):
    """A run folder that cannot be used: finished, damaged, unreadable, or of another config."""


class FolderInUse(RunError):  # noqa: N818 - the state of a folder; nothing has gone wrong
    """A folder that another process is writing."""


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a finite real number, NumPy's among them; True and False are not.

    Example:
        >>> [is_number(value) for value in (0.5, 3, float("inf"), float("nan"), True, "1")]
        [True, True, False, False, False, False]
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that is larger than any float
        return False


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a whole number by its type, NumPy's among them; True and False are not.

    Example:
        >>> [is_whole(value) for value in (3, 3.0, True)]
        [True, False, False]
    """
    return isinstance(value, numbers.Integral) and is_number(value)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether that is what it says; on a CPU torch has no class of its own for it.

    Example:
        >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
        True
    """
    known = type(error).__name__ == "OutOfMemoryError" or isinstance(error, MemoryError)
    return known or "can't allocate memory" in str(error)


def first_line(error: BaseException) -> str:
    r"""Of its message: torch's own go on with stack traces and addresses.

    Example:
        >>> first_line(RuntimeError("not implemented\nregistered at …"))
        'not implemented'
    """
    return str(error).partition("\n")[0]


def portable(error: Exception) -> Exception:
    """The error, or one that says the same, such that another process can be sent it.

    Example:
        >>> portable(DataError("no file", place=("data",))).place
        ('data',)
    """
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return (TawtError if isinstance(error, TawtError) else RuntimeError)(str(error))
    return error


class Interrupted(TawtError):  # noqa: N818 - a request that was honoured, no error
    """Training stopped because it was asked to; a checkpoint was written."""


def suggestion(name: str, names: Iterable[str]) -> str:
    """The end of an error message: the nearest known name, or all of them.

    Example:
        >>> suggestion("chnk", ["pos", "chunk"])
        "did you mean 'chunk'?"
    """
    names = list(names)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}."
