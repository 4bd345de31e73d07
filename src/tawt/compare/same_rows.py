"""Rows that are the same runs by construction: by size, say, and uniform, where sizes are equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.config.rows import Row
    from tawt.config.schema import RunConfig
    from tawt.weighting import Weighting


@dataclass(frozen=True)
class Start:
    """What a row's runs do, once the sizes of the tasks are known."""

    settings: dict[str, Any]
    """All that is configured but for where weights start."""
    shares: dict[str, float]
    """Where they do."""

    @classmethod
    def of(cls, config: RunConfig, weighting: Weighting | None) -> Start:
        """Of a row's configuration, and the weighting that was built from it."""
        settings = config.model_dump(mode="json", exclude={"name"})
        resolved = ["initial"]
        if config.weighting.kind == "fixed":  # weights that do not move hold nothing
            resolved.append("target_share")
        for name in resolved:
            del settings["weighting"][name]
        return cls(settings, {} if weighting is None else weighting.weights.shares())

    def is_same(self, other: Start) -> bool:
        """Whether runs of both come to the same."""
        return (
            self.settings == other.settings
            and self.shares.keys() == other.shares.keys()
            and np.allclose(
                [*self.shares.values()],
                [other.shares[name] for name in self.shares],
                rtol=1e-6,
                atol=0,
            )
        )


def same_rows(rows: Sequence[Row], starts: Mapping[str, Start]) -> dict[str, str]:
    """Rows that would be the same runs as others, and the rows that stand for them.

    Of rows that are the same, uniform weights stand for those by size, and what holds no share for
    what does.

    Args:
        rows: Of a table.
        starts: By the name of a row; one that takes over the weights of another has none.
    """
    kept: list[Row] = []
    found: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: (row.initial != "uniform", row.holds_share)):
        if row.name not in starts:
            continue
        start = starts[row.name]
        same = next((other for other in kept if starts[other.name].is_same(start)), None)
        if same is None:
            kept.append(row)
        else:
            found[row.name] = same.name
    return {row.name: found[row.name] for row in rows if row.name in found}
