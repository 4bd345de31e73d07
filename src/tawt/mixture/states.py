"""Whether a saved state is one of this mixture, found out before any of it is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tawt.errors import TrainingError, is_number, is_whole

VERSION = 1

_DEFAULTS = {"hold": 1}
"""Settings that a state leaves out where they are as they were before there was such a setting."""


def check_state(state: object, expected: Mapping[str, Any]) -> None:
    """Refuse a state that is not one of this mixture.

    Args:
        state: As saved.
        expected: What it must say, of this mixture.

    Example:
        >>> check_state(None, {})
        Traceback (most recent call last):
        ...
        tawt.errors.TrainingError: This is not the state of such a mixture: it is of type \
NoneType, not a dictionary. Pass what `state_dict()` returned.
    """
    if not isinstance(state, Mapping):
        raise _refusal(f"it is of type {type(state).__name__}, not a dictionary")
    said, expected = {**_DEFAULTS, **state}, {**_DEFAULTS, **expected}
    for key in (*expected, "step", "begun"):
        if key not in said:
            raise _refusal(f"it has no {key!r}")
    for key, value in expected.items():
        if said[key] != value:
            raise TrainingError(
                f"The state is of another mixture: its `{key}` is {said[key]!r}, here it is "
                f"{value!r}. Build the mixture as it was when the state was saved."
            )
    check_counts(said, ["step"], what="the state")
    # Negative where an epoch became longer: it would have begun before the first step.
    if not (is_whole(said["begun"]) and said["begun"] <= said["step"]):
        raise _refusal(f"its `begun` is {said['begun']!r}, not a step up to {said['step']}")


def check_counts(found: object, keys: Sequence[str], *, what: str) -> None:
    """Refuse what has no whole number of at least 0 for each key."""
    check_parts(found, keys, what=what)
    assert isinstance(found, Mapping)
    for key in keys:
        if not (is_whole(found[key]) and found[key] >= 0):
            raise _refusal(
                f"in {what}, {key!r} is {found[key]!r}, not a whole number of at least 0"
            )


def check_parts(found: object, keys: Sequence[str], *, what: str) -> None:
    """Refuse what is no dictionary with these keys."""
    if not isinstance(found, Mapping):
        raise _refusal(f"{what} is of type {type(found).__name__}, not a dictionary")
    for key in keys:
        if key not in found:
            raise _refusal(f"{what} has no {key!r}")


def check_draw(found: object, names: Sequence[str], *, what: str) -> None:
    """Refuse what was not drawn from these tasks."""
    check_parts(found, ["tasks", "factors"], what=what)
    assert isinstance(found, Mapping)
    check_parts(found["factors"], names, what=f"`factors` of {what}")
    tasks, factors = found["tasks"], found["factors"]
    if not (isinstance(tasks, list | tuple) and tasks):
        raise _refusal(f"`tasks` of {what} is {tasks!r}, not a list of names")
    for task in tasks:
        check_task(task, names, what=what)
    for name in names:
        if not is_number(factors[name]):
            raise _refusal(f"the factor of {name!r} in {what} is {factors[name]!r}, not a number")


def check_task(found: object, names: Sequence[str], *, what: str) -> None:
    """Refuse what is not the name of a task that is drawn here."""
    if found not in names:
        raise _refusal(f"{what} names {found!r}, which is not a task ({', '.join(names)})")


def check_list(found: object, *, what: str) -> None:
    """Refuse what is no list."""
    if not isinstance(found, list | tuple):
        raise _refusal(f"{what} is of type {type(found).__name__}, not a list")


def _refusal(reason: str) -> TrainingError:
    return TrainingError(
        f"This is not the state of such a mixture: {reason}. Pass what `state_dict()` returned."
    )
