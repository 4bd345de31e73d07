"""Whether names are those of the tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import WeightsError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def known_names(given: Iterable[str], names: Sequence[str], *, what: str) -> None:
    """Refuse names that are not tasks, and tasks that are not named.

    Example:
        >>> known_names(["pso"], ["pos", "ner"], what="weights")
        Traceback (most recent call last):
        ...
        tawt.errors.WeightsError: weights name the unknown task 'pso'; did you mean 'pos'?
    """
    given = set(given)
    for name in sorted(given - set(names)):
        raise WeightsError(f"{what} name the unknown task {name!r}; {suggestion(name, names)}")
    missing = [name for name in names if name not in given]
    if missing:
        raise WeightsError(f"{what} leave out {', '.join(map(repr, missing))}; name every task.")
