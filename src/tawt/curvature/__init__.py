"""H⁻¹ times the target's gradient, by several routes.

| curvature | H⁻¹v is | cost of one update |
|---|---|---|
| `Identity` | a multiple of v | nothing |
| `AdamDiagonal` | v over Adam's √v̂, entry by entry | nothing |
| `ConjugateGradient` | solved by conjugate gradient | one Hessian product an iteration |
| `Dense` | solved exactly, in float64 | one product per parameter: an oracle for small models |

`docs/curvature.md` says which to choose.
"""

from tawt.curvature.adam import AdamDiagonal
from tawt.curvature.base import Curvature, WeightedHessian
from tawt.curvature.conjugate_gradient import ConjugateGradient
from tawt.curvature.dense import Dense
from tawt.curvature.identity import Identity

__all__ = [
    "AdamDiagonal",
    "ConjugateGradient",
    "Curvature",
    "Dense",
    "Identity",
    "WeightedHessian",
]
