"""Parts of one source, where weights are on groups of its examples or on each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from benchmarks.regimes.area import area
from tawt.units import Units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tawt.weights import SourceWeights


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What is known of the examples of a source.

    Example:
        >>> parts = Parts(unit="group", of_example=np.array(["clean", "noise", "clean"]))
        >>> parts.units("digits").place(1)
        ('digits', 'noise')
        >>> parts.means(np.array([1.5, 0.5, 1.0]))
        {'clean': 1.25, 'noise': 0.5}
        >>> parts.area(np.array([1.5, 0.5, 0.5]), {"clean": 1.0, "noise": 0.0})
        0.75
    """

    unit: Literal["group", "example"]
    """What weights are put on."""
    of_example: NDArray[np.str_]
    """The part that each example is in. Where weights are on groups, it is the group."""

    def units(self, source: str) -> Units:
        """What the weights of the source are put on."""
        if self.unit == "group":
            return Units.of_groups({source: self.of_example})
        return Units.of_examples({source: len(self.of_example)})

    def factors(self, weights: SourceWeights, source: str) -> NDArray[Any]:
        """What each example counts beside the average one."""
        found = weights.relative(source, np.arange(len(self.of_example)))
        return np.ones(len(self.of_example)) if found is None else found.numpy()

    def means(self, factors: NDArray[Any]) -> dict[str, float]:
        """What an example of each part counts, on average."""
        return {
            str(part): float(factors[self.of_example == part].mean())
            for part in np.unique(self.of_example)
        }

    def area(self, factors: NDArray[Any], worth: Mapping[str, float]) -> float | None:
        """How often the better of two examples counts more; nothing where parts are left out."""
        if not worth.keys() <= set(self.of_example.tolist()):
            return None
        names = [str(place) for place in range(len(factors))]
        worths = [worth[part] for part in self.of_example.tolist()]
        given = dict(zip(names, factors.tolist(), strict=True))
        return area(given, dict(zip(names, worths, strict=True)))
