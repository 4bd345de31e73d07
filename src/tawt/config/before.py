"""Fields that are gone, as run folders of earlier versions have them written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_WRITTEN_OUT = frozenset(("cuda_graphs", "max_nonfinite", "compile", "workers"))
"""A person names some fields; a folder has all that there were."""
_NOT_YET = {"guard": False, "measure_through": "trained heads"}
"""What was done before there was a field to say so."""


def without_target_parts(training: Mapping[str, Any]) -> Mapping[str, Any]:
    """The section `training`, where `target_parts` is `target_from`, which took its place.

    What is no number of parts is left, to be refused as a field that there is not.

    Example:
        >>> without_target_parts({"target_parts": 1, "workers": 2})
        {'target_from': 'all', 'workers': 2}
        >>> without_target_parts({"target_parts": 4})
        {'target_from': 'halves in turn'}
    """
    parts = training.get("target_parts")
    known = parts is None or (type(parts) is int and parts >= 1)
    if "target_parts" not in training or not known:
        return training
    found: dict[str, Any] = {"target_from": "all" if parts in (None, 1) else "halves in turn"}
    if training.keys() >= _WRITTEN_OUT:
        found |= _NOT_YET
    kept = {name: value for name, value in training.items() if name != "target_parts"}
    return {**found, **kept}
