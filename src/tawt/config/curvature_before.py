"""Curvatures that are gone: refused in a configuration, passed over in folders of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tawt.errors import ConfigError

_FACTORED = (
    "use `weighting.alignment: cosine`: it gained nothing on that, and cost six times as much. "
    "For second derivatives, use `kind: conjugate-gradient`."
)
_KINDS = {
    "nystrom": "use conjugate-gradient with `iterations` in place of `rank`: it gets more out of "
    "as many Hessian products, in a fraction of the memory.",
    "kfac": _FACTORED,
    "ekfac": _FACTORED,
    "neumann": "use conjugate-gradient, which comes nearer to the exact derivative with fewer "
    "products; or `weighting.alignment: cosine`, which was as good on batches at a fraction of "
    "the cost.",
}
_FIELDS = {
    "rank": (
        20,
        "`kind: nystrom`, which was removed; leave it out, or use `kind: conjugate-gradient` and "
        "set `iterations`.",
    ),
    "labels": ("sampled", "`kind: kfac` and `ekfac`, which were removed; leave it out."),
}
"""The default of each, which run folders of before have written out, and what it belonged to."""


def without_removed_fields(curvature: Mapping[str, Any]) -> Mapping[str, Any]:
    """The section `weighting.curvature` without fields that are gone and had no effect.

    Raises:
        ConfigError: It asks for a curvature that is gone, or for something of one.

    Example:
        >>> without_removed_fields({"kind": "adam", "rank": 20, "labels": "sampled"})
        {'kind': 'adam'}
    """
    kind = _removed(curvature)
    if kind is not None:
        raise ConfigError(
            f"`weighting.curvature.kind`: {kind} was removed; {_KINDS[kind]}", place=("kind",)
        )
    for name, (default, belonged) in _FIELDS.items():
        if curvature.get(name, default) != default:
            raise ConfigError(f"`weighting.curvature.{name}` belonged to {belonged}", place=(name,))
    return _without_fields(curvature)


def removed_from(values: Mapping[str, Any]) -> str | None:
    """The kind of curvature in a run's whole configuration, if it is gone.

    Example:
        >>> removed_from({"weighting": {"curvature": {"kind": "kfac"}}})
        'kfac'
    """
    return _removed(_curvature(values))


def readable(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """A run's configuration as far as it can still be read: what is gone counts as the default.

    Example:
        >>> readable({"weighting": {"step_size": 1.0, "curvature": {"kind": "kfac"}}})
        {'weighting': {'step_size': 1.0, 'curvature': {}}}
    """
    curvature = _curvature(values)
    if not curvature:
        return values
    kept = {} if _removed(curvature) else _without_fields(curvature)
    return {**values, "weighting": {**values["weighting"], "curvature": kept}}


def _curvature(values: Mapping[str, Any]) -> Mapping[str, Any]:
    weighting = values.get("weighting")
    curvature = weighting.get("curvature") if isinstance(weighting, Mapping) else None
    return curvature if isinstance(curvature, Mapping) else {}


def _removed(curvature: Mapping[str, Any]) -> str | None:
    kind = curvature.get("kind")
    return kind if isinstance(kind, str) and kind in _KINDS else None


def _without_fields(curvature: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in curvature.items() if name not in _FIELDS}
